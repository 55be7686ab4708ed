#include "base/core/count_words.h"

#include <gtest/gtest.h>

#include <array>

namespace berth {
namespace {

TEST(CountWords, OneHasNoS) {
  EXPECT_EQ(counted_noun(1, "GPU"), "1 GPU");
  EXPECT_EQ(counted_noun(0, "GPU"), "0 GPUs");
  EXPECT_EQ(counted_noun(1'200, "GPU"), "1,200 GPUs");
}

TEST(CountWords, AsGoodNamesTheFirst) {
  const std::array<std::string_view, 3> names = {"fgd", "best", "first"};
  EXPECT_EQ(as_good_words(std::span(names).first(1)), "fgd is as good");
  EXPECT_EQ(as_good_words(std::span(names).first(2)), "fgd and 1 other are as good");
  EXPECT_EQ(as_good_words(names), "fgd and 2 others are as good");
}

}  // namespace
}  // namespace berth
