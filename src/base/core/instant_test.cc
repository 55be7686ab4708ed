#include "base/core/instant.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Instant, SecondsGoDownAlsoBeforeTheRun) {
  EXPECT_EQ(Instant(0).second(), 0);
  EXPECT_EQ(Instant(999'999).second(), 0);
  EXPECT_EQ(Instant(1'000'000).second(), 1);
  EXPECT_EQ(Instant(-1).second(), -1);
  EXPECT_EQ(Instant(-1'000'000).second(), -1);
  EXPECT_EQ(Instant(-1'000'001).second(), -2);
  EXPECT_EQ(Instant::at_second(-3).second(), -3);
}

TEST(Instant, ArithmeticOfTimes) {
  EXPECT_EQ(Instant(5) + Micros(7), Instant(12));
  EXPECT_EQ(Instant(5) - Micros(7), Instant(-2));
  EXPECT_EQ(Instant(5) - Instant(7), Micros(-2));
  EXPECT_EQ(Micros::seconds(2) * 3, Micros(6'000'000));
  EXPECT_LT(Instant(5), Instant::never());
  Micros sum(1);
  sum += Micros(4);
  sum -= Micros(2);
  EXPECT_EQ(sum, Micros(3));
  EXPECT_DOUBLE_EQ(Micros(1'500'000).to_seconds(), 1.5);
}

TEST(InstantDeathTest, OverflowEndsTheProgram) {
  EXPECT_DEATH(static_cast<void>(Instant::never() + Micros(1)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Instant(INT64_MIN) - Micros(1)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Instant(INT64_MIN) - Instant(1)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Micros(INT64_MAX) * 2), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Micros::seconds(INT64_MAX / 1000)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Instant::at_second(INT64_MAX / 1000)), "broken invariant");
}

}  // namespace
}  // namespace berth
