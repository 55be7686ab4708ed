#include "models/optimize/step_clock.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace berth::models {
namespace {

Instant second(std::int64_t at) { return Instant::at_second(at); }

TEST(StepClock, HasNoTimeForAStepAsLongAsTheLastOnes) {
  StepClock clock(second(0), second(20));
  EXPECT_FALSE(clock.preparation());
  EXPECT_TRUE(clock.has_time(second(6)));
  EXPECT_EQ(clock.preparation(), Micros::seconds(6));
  EXPECT_TRUE(clock.has_time(second(11)));
  EXPECT_TRUE(clock.has_time(second(15)));
  EXPECT_FALSE(clock.has_time(second(16)));
}

TEST(StepClock, ForgetsWhatWasLongBefore) {
  StepClock clock(second(0), second(20));
  EXPECT_TRUE(clock.has_time(second(0)));
  EXPECT_TRUE(clock.has_time(second(9)));
  EXPECT_TRUE(clock.has_time(second(10)));
  EXPECT_TRUE(clock.has_time(second(11)));
  EXPECT_TRUE(clock.has_time(second(12)));
  for (const std::int64_t at : {13, 14, 15, 16, 17, 18, 19}) EXPECT_TRUE(clock.has_time(second(at)));
}

TEST(StepClock, HasNoTimeAtItsEnd) {
  StepClock clock(second(0), second(20));
  EXPECT_FALSE(clock.has_time(second(20)));
}

}  // namespace
}  // namespace berth::models
