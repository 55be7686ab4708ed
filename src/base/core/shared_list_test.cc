#include "base/core/shared_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace berth {
namespace {

using Words = SharedList<std::string>;

static_assert(std::ranges::random_access_range<Words>);
static_assert(std::ranges::random_access_range<const Words>);

TEST(SharedList, IsAListOfValues) {
  Words words = {"a", "b"};
  words.push_back("c");
  words.emplace_back() = "d";
  EXPECT_EQ(words.size(), 4U);
  EXPECT_EQ(words.front(), "a");
  EXPECT_EQ(words.back(), "d");
  EXPECT_EQ(words[1], "b");
  EXPECT_EQ(words, Words(std::vector<std::string>{"a", "b", "c", "d"}));
  words.resize(1);
  words.resize(3, "z");
  EXPECT_EQ(words, (Words{"a", "z", "z"}));
  words.pop_back();
  words[1] = "b";
  EXPECT_EQ(words, (Words{"a", "b"}));
  EXPECT_NE(words, (Words{"a"}));
  EXPECT_NE(words, (Words{"a", "c"}));
  words.clear();
  EXPECT_TRUE(words.empty());
}

TEST(SharedList, AChangeOfOneCopyIsNotSeenByOthers) {
  Words words = {"a", "b"};
  const Words before = words;
  const std::string* address = &before[1];
  words[0] = "x";
  EXPECT_EQ(before, (Words{"a", "b"}));
  EXPECT_EQ(words, (Words{"x", "b"}));
  EXPECT_FALSE(words.shares(before, 0));
  EXPECT_TRUE(words.shares(before, 1));
  EXPECT_EQ(&before[1], address);  // what is not changed stays where it is
}

TEST(SharedList, AValueThatNobodySharesIsChangedInPlace) {
  Words words = {"a"};
  const std::string* address = &words[0];
  words[0] += "b";
  EXPECT_EQ(&words[0], address);
}

TEST(SharedList, AValueOfOthersIsSharedAndNeverChanged) {
  const auto value = std::make_shared<const std::string>("c");
  Words words = {"a", "b"};
  words.set_shared(1, value);
  words.set_shared(2, value);
  EXPECT_EQ(words, (Words{"a", "c", "c"}));
  EXPECT_EQ(&std::as_const(words)[1], value.get());
  EXPECT_EQ(words.share(2), value);
  words[1] += "d";
  EXPECT_EQ(words, (Words{"a", "cd", "c"}));
  EXPECT_EQ(*value, "c");
  const std::string* address = &words[1];
  words[1] += "e";
  EXPECT_EQ(&words[1], address) << "the copy is the list's own";
}

TEST(SharedList, AConstantThatOnlyTheListHasIsCopiedToBeChanged) {
  Words words;
  words.set_shared(0, std::make_shared<const std::string>("a"));
  const std::string* address = &std::as_const(words)[0];
  EXPECT_NE(&words[0], address);
}

TEST(SharedList, IsReadAndChangedByLoopsAndAlgorithms) {
  Words words = {"b", "c", "a"};
  const Words before = words;
  std::string all;
  for (const std::string& word : before) all += word;
  EXPECT_EQ(all, "bca");
  for (std::string& word : words) word += "!";
  EXPECT_EQ(words, (Words{"b!", "c!", "a!"}));
  EXPECT_EQ(before, (Words{"b", "c", "a"}));
  EXPECT_EQ(std::ranges::find(before, "c") - before.begin(), 1);
  std::sort(words.begin(), words.end());
  EXPECT_EQ(words, (Words{"a!", "b!", "c!"}));
}

}  // namespace
}  // namespace berth
