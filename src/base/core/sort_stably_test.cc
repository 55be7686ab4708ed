#include "base/core/sort_stably.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(SortStably, EqualKeysKeepTheirOrder) {
  std::vector<std::string> words = {"bb", "a", "cc", "ddd", "b", "aa"};
  sort_stably(words, &std::string::size);
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b", "bb", "cc", "aa", "ddd"}));
  sort_stably(words, &std::string::size, std::greater<>());
  EXPECT_EQ(words, (std::vector<std::string>{"ddd", "bb", "cc", "aa", "a", "b"}));
}

TEST(SortStably, NothingStaysNothing) {
  std::vector<int> none;
  sort_stably(none, [](int value) { return value; });
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace berth
