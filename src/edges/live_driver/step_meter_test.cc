#include "edges/live_driver/step_meter.h"

#include <gtest/gtest.h>

namespace berth::edges {
namespace {

TEST(StepMeter, HasNothingBeforeTheFirstStep) {
  const StepTimes times = StepMeter().times();
  EXPECT_EQ(times.count, 0U);
  EXPECT_EQ(times.max_ms, 0);
}

TEST(StepMeter, HasPercentilesByNearestRank) {
  StepMeter meter;
  for (int ms = 100; ms >= 0; --ms) meter.add(ms);
  const StepTimes times = meter.times();
  EXPECT_EQ(times.count, 101U);
  EXPECT_EQ(times.p50_ms, 50);
  EXPECT_EQ(times.p99_ms, 99);
  EXPECT_EQ(times.max_ms, 100);
}

TEST(StepMeter, KeepsTheLatestOnes) {
  StepMeter meter;
  meter.add(1000);
  for (std::size_t i = 0; i < StepMeter::kKept; ++i) meter.add(1);
  const StepTimes times = meter.times();
  EXPECT_EQ(times.p99_ms, 1);
  EXPECT_EQ(times.max_ms, 1000);
  EXPECT_EQ(times.count, StepMeter::kKept + 1);
}

}  // namespace
}  // namespace berth::edges
