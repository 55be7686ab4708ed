#include "live/minute.h"

#include <gtest/gtest.h>

namespace berth::live {
namespace {

sim::MeasuredSecond second_with(std::int64_t arrivals, std::int64_t in_time, std::vector<sim::LatencyCount> latencies) {
  sim::MeasuredSecond measured;
  measured.seen.arrivals = arrivals;
  measured.seen.in_time = in_time;
  measured.accuracy_sum_micro = in_time * 900'000;
  measured.latencies = std::move(latencies);
  return measured;
}

TEST(ServiceMinute, IsUnknownBeforeTheFirstSecond) { EXPECT_EQ(ServiceMinute().figures(), std::nullopt); }

TEST(ServiceMinute, ASecondWithoutRequestsHasNoGoodputAndNoLatency) {
  ServiceMinute minute;
  minute.add(second_with(0, 0, {}));
  const auto figures = minute.figures();
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->requests, 0);
  EXPECT_EQ(figures->goodput(), std::nullopt);
  EXPECT_EQ(figures->latency_p50_ms, std::nullopt);
  EXPECT_EQ(figures->latency_p99_ms, std::nullopt);
}

TEST(ServiceMinute, RequestsWithoutAnAnswerHaveGoodputZero) {
  ServiceMinute minute;
  minute.add(second_with(10, 0, {}));
  EXPECT_EQ(minute.figures()->goodput(), 0);
}

TEST(ServiceMinute, GoodputIsTheAccuracyOfTheAnswersInTime) {
  ServiceMinute minute;
  minute.add(second_with(10, 8, {}));
  EXPECT_DOUBLE_EQ(*minute.figures()->goodput(), 0.72);
}

TEST(ServiceMinute, ABacklogThatIsWorkedOffDoesNotLiftGoodputAboveItsAccuracy) {
  ServiceMinute minute;
  minute.add(second_with(10, 40, {}));
  EXPECT_DOUBLE_EQ(*minute.figures()->goodput(), 0.9);
}

TEST(ServiceMinute, ForgetsWhatIsOlderThanSixtySeconds) {
  ServiceMinute minute;
  minute.add(second_with(1000, 1000, {{.latency_us = 5'000'000, .count = 1000}}));
  for (int i = 0; i < 59; ++i) minute.add(second_with(2, 1, {{.latency_us = 20'000, .count = 1}}));
  EXPECT_EQ(minute.figures()->requests, 1000 + 59 * 2);
  EXPECT_NEAR(*minute.figures()->latency_p99_ms, 5000, 20);
  minute.add(second_with(2, 1, {{.latency_us = 20'000, .count = 1}}));
  EXPECT_EQ(minute.figures()->seconds, 60);
  EXPECT_EQ(minute.figures()->requests, 60 * 2);
  EXPECT_EQ(minute.figures()->in_time, 60);
  EXPECT_NEAR(*minute.figures()->latency_p99_ms, 20, 20 * 0.004);
}

TEST(ServiceMinute, PercentilesAreByNearestRankWithinFourPerMille) {
  for (const std::int64_t unit : {1, 37, 1000, 123'457}) {
    ServiceMinute minute;
    std::vector<sim::LatencyCount> latencies;
    for (std::int64_t i = 100; i >= 1; --i) latencies.push_back({.latency_us = i * unit, .count = 3});
    minute.add(second_with(300, 300, latencies));
    const auto figures = *minute.figures();
    const auto unit_ms = static_cast<double>(unit) / 1000;
    EXPECT_NEAR(*figures.latency_p50_ms, 50 * unit_ms, 50 * unit_ms * 0.004) << unit;
    EXPECT_NEAR(*figures.latency_p99_ms, 99 * unit_ms, 99 * unit_ms * 0.004) << unit;
  }
}

FleetMinute::Reading reading(std::int64_t second, double allocated, double busy, double effective) {
  return {.at = Instant::at_second(second),
          .sm_time = {.allocated_us = allocated, .busy_us = busy},
          .effective_us = effective};
}

TEST(FleetMinute, SharesAreOfTheFleetOverTheWindow) {
  FleetMinute fleet;
  EXPECT_FALSE(fleet.shares(10).has_value());
  fleet.add(reading(0, 0, 0, 0));
  EXPECT_FALSE(fleet.shares(10).has_value());
  fleet.add(reading(1, 8e6, 4e6, 1e6));
  EXPECT_DOUBLE_EQ(fleet.shares(10)->allocated, 0.8);
  EXPECT_DOUBLE_EQ(fleet.shares(10)->busy, 0.4);
  EXPECT_DOUBLE_EQ(fleet.shares(10)->effective, 0.1);
  EXPECT_FALSE(fleet.shares(0).has_value());
  // Nothing happens for more than a minute: the first second leaves the window.
  for (int second = 2; second <= 61; ++second) fleet.add(reading(second, 8e6, 4e6, 1e6));
  EXPECT_DOUBLE_EQ(fleet.shares(10)->allocated, 0);
}

}  // namespace
}  // namespace berth::live
