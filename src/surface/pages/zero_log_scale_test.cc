#include "surface/pages/zero_log_scale.h"

#include <gtest/gtest.h>

namespace berth::report {
namespace {

TEST(ZeroLogScale, BeginsWithZeroAndIsLogarithmicFromTheLeastValueOn) {
  const ZeroLogScale scale{.least = 10, .most = 1'000, .at_zero = 50, .at_least = 100, .at_most = 300};
  EXPECT_DOUBLE_EQ(scale.at(0), 50);
  EXPECT_DOUBLE_EQ(scale.at(-1), 50);
  EXPECT_DOUBLE_EQ(scale.at(5), 75);
  EXPECT_DOUBLE_EQ(scale.at(10), 100);
  EXPECT_DOUBLE_EQ(scale.at(100), 200);
  EXPECT_DOUBLE_EQ(scale.at(1'000), 300);
  EXPECT_DOUBLE_EQ(scale.at(2'000), 300);
}

TEST(ZeroLogScale, MayGoDown) {
  const ZeroLogScale scale{.least = 1, .most = 100, .at_zero = 90, .at_least = 80, .at_most = 0};
  EXPECT_DOUBLE_EQ(scale.at(0.5), 85);
  EXPECT_DOUBLE_EQ(scale.at(10), 40);
}

}  // namespace
}  // namespace berth::report
