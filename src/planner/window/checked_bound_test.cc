#include "planner/window/checked_bound.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::planner {
namespace {

TEST(CheckedBound, IsTheProvenOneOrTheObjectiveWhereRoundingPutsThatAbove) {
  EXPECT_EQ(checked_bound(12, 10), 12);
  EXPECT_EQ(checked_bound(10, 10), 10);
  EXPECT_EQ(checked_bound(1e6, 1e6 * (1 + 1e-12)), 1e6 * (1 + 1e-12));
  EXPECT_EQ(checked_bound(0, 1e-12), 1e-12);
  EXPECT_EQ(checked_bound(-3, -5), -3);
  EXPECT_EQ(checked_bound(std::numeric_limits<double>::infinity(), 7), std::numeric_limits<double>::infinity());
}

TEST(CheckedBoundDeathTest, ARefutedProofEndsTheProgram) {
  EXPECT_DEATH((void)checked_bound(10, 10.001), "objective <= proven");
  EXPECT_DEATH((void)checked_bound(1e6, 1e6 + 1), "objective <= proven");
  EXPECT_DEATH((void)checked_bound(-5, -3), "objective <= proven");
  EXPECT_DEATH((void)checked_bound(-std::numeric_limits<double>::infinity(), 0), "objective <= proven");
  EXPECT_DEATH((void)checked_bound(std::numeric_limits<double>::quiet_NaN(), 0), "objective <= proven");
}

}  // namespace
}  // namespace berth::planner
