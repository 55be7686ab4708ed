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

using SharedWords = SharedList<std::string>;

static_assert(std::ranges::random_access_range<SharedWords>);
static_assert(std::ranges::random_access_range<const SharedWords>);

TEST(SharedList, IsAListOfValues) {
  SharedWords words = {"a", "b"};
  words.push_back("c");
  words.emplace_back() = "d";
  EXPECT_EQ(words.size(), 4U);
  EXPECT_EQ(words.front(), "a");
  EXPECT_EQ(words.back(), "d");
  EXPECT_EQ(words[1], "b");
  EXPECT_EQ(words, SharedWords(std::vector<std::string>{"a", "b", "c", "d"}));
  words.resize(1);
  words.resize(3, "z");
  EXPECT_EQ(words, (SharedWords{"a", "z", "z"}));
  words.pop_back();
  words[1] = "b";
  EXPECT_EQ(words, (SharedWords{"a", "b"}));
  EXPECT_NE(words, (SharedWords{"a"}));
  EXPECT_NE(words, (SharedWords{"a", "c"}));
  words.clear();
  EXPECT_TRUE(words.empty());
}

TEST(SharedList, AChangeOfOneCopyIsNotSeenByOthers) {
  SharedWords words = {"a", "b"};
  const SharedWords before = words;
  const std::string* address = &before[1];
  words[0] = "x";
  EXPECT_EQ(before, (SharedWords{"a", "b"}));
  EXPECT_EQ(words, (SharedWords{"x", "b"}));
  EXPECT_FALSE(words.shares(before, 0));
  EXPECT_TRUE(words.shares(before, 1));
  EXPECT_EQ(&before[1], address);  // an unchanged value keeps its address
}

TEST(SharedList, AValueThatNobodySharesIsChangedInPlace) {
  SharedWords words = {"a"};
  const std::string* address = &words[0];
  words[0] += "b";
  EXPECT_EQ(&words[0], address);
}

TEST(SharedList, AValueOfOthersIsSharedAndNeverChanged) {
  const auto value = std::make_shared<const std::string>("c");
  SharedWords words = {"a", "b"};
  words.set_shared(1, value);
  words.set_shared(2, value);
  EXPECT_EQ(words, (SharedWords{"a", "c", "c"}));
  EXPECT_EQ(&std::as_const(words)[1], value.get());
  EXPECT_EQ(words.share(2), value);
  words[1] += "d";
  EXPECT_EQ(words, (SharedWords{"a", "cd", "c"}));
  EXPECT_EQ(*value, "c");
  const std::string* address = &words[1];
  words[1] += "e";
  EXPECT_EQ(&words[1], address) << "the copy is the list's own";
}

TEST(SharedList, AConstantThatOnlyTheListHasIsCopiedToBeChanged) {
  SharedWords words;
  words.set_shared(0, std::make_shared<const std::string>("a"));
  const std::string* address = &std::as_const(words)[0];
  EXPECT_NE(&words[0], address);
}

TEST(SharedList, IsReadAndChangedByLoopsAndAlgorithms) {
  SharedWords words = {"b", "c", "a"};
  const SharedWords before = words;
  std::string all;
  for (const std::string& word : before) all += word;
  EXPECT_EQ(all, "bca");
  for (std::string& word : words) word += "!";
  EXPECT_EQ(words, (SharedWords{"b!", "c!", "a!"}));
  EXPECT_EQ(before, (SharedWords{"b", "c", "a"}));
  EXPECT_EQ(std::ranges::find(before, "c") - before.begin(), 1);
  std::sort(words.begin(), words.end());
  EXPECT_EQ(words, (SharedWords{"a!", "b!", "c!"}));
}

}  // namespace
}  // namespace berth
