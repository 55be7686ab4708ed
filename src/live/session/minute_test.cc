#include "live/session/minute.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/core/rng.h"
#include "sim/world/service_meter.h"

namespace berth::live {
namespace {

constexpr Micros kTarget(100'000);  // a second enters the window one second later

/// Requests of a second of which some are answered in time in it.
sim::MeasuredSecond second_with(std::int64_t second, std::int64_t arrivals, std::int64_t in_time,
                                std::vector<sim::LatencyCount> latencies = {}) {
  sim::MeasuredSecond measured;
  measured.seen.second = second;
  measured.seen.arrivals = arrivals;
  measured.settled = {{.second = second, .in_time = in_time, .accuracy_sum_micro = in_time * 900'000}};
  measured.latencies = std::move(latencies);
  return measured;
}

void add_second(ServiceMinute& minute, const sim::MeasuredSecond& measured, Micros target = kTarget) {
  minute.add(measured.seen.second, figures_of(measured), target);
}

ServiceMinute minute_of(const std::vector<sim::MeasuredSecond>& seconds) {
  ServiceMinute minute;
  for (const sim::MeasuredSecond& each : seconds) add_second(minute, each);
  return minute;
}

TEST(LeastRate, ServesTheShareOfEachPartsRequests) {
  struct Case {
    std::vector<ArrivedPart> parts;
    double share;
    double rate;
  };
  const std::vector<Case> cases = {
      {{}, 0.95, 0},
      {{{0, 1}, {0, 1}}, 0.95, 0},
      {{{10, 1}, {10, 1}}, 0.95, 9.5},
      {{{10, 1}, {10, 1}}, 1, 10},
      {{{0, 1}, {0, 1}, {60, 1}}, 0.95, 57},   // a burst needs its own rate, not the mean
      {{{30, 1}, {10, 1}, {20, 1}}, 0.9, 24},  // 10 + 20 + 24
      {{{30, 1}, {10, 1}, {20, 1}}, 0.5, 10},  // 3 x 10
      {{{30, 10}, {1, 1}}, 1, 3},              // parts of different lengths
      {{{5, 10}, {5, 10}, {5, 10}}, 0.8, 0.4},
  };
  for (const Case& each : cases) EXPECT_NEAR(least_rate(each.parts, each.share), each.rate, 1e-9) << each.rate;
}

TEST(LeastRate, IsTheLeastOne) {
  Rng rng(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<ArrivedPart> parts;
    for (std::uint64_t i = 0; i <= rng.below(60); ++i) {
      parts.push_back(
          {.requests = static_cast<double>(rng.below(50)), .seconds = static_cast<double>(1 + rng.below(3))});
    }
    const double share = static_cast<double>(1 + rng.below(100)) / 100;
    const auto served = [&](double rate) {
      double sum = 0;
      for (const ArrivedPart& part : parts) sum += std::min(part.requests, rate * part.seconds);
      return sum;
    };
    double all = 0;
    for (const ArrivedPart& part : parts) all += part.requests;
    const double rate = least_rate(parts, share);
    EXPECT_GE(served(rate), share * all - 1e-6);
    if (rate > 0) {
      EXPECT_LT(served(rate * 0.999), share * all);
    }
  }
}

TEST(ServiceMinute, NeedsARateForPartsAsLongAsItsTarget) {
  std::vector<sim::MeasuredSecond> seconds;
  for (std::int64_t second = 0; second < 80; ++second)
    seconds.push_back(second_with(second, second % 10 == 0 ? 10 : 0, 0));
  EXPECT_NEAR(*minute_of(seconds).rate_for(1), 10, 1e-9);
  ServiceMinute patient;  // ten seconds to answer: one request per second is enough
  for (const sim::MeasuredSecond& each : seconds) add_second(patient, each, Micros::seconds(10));
  EXPECT_NEAR(*patient.rate_for(1), 1, 1e-9);
  EXPECT_EQ(ServiceMinute().rate_for(0.5), std::nullopt);
}

TEST(ServiceMinute, IsUnknownBeforeTheTargetOfTheFirstSecondHasPassed) {
  EXPECT_EQ(ServiceMinute().figures(), std::nullopt);
  EXPECT_EQ(minute_of({second_with(0, 1, 1)}).figures(), std::nullopt);
  EXPECT_EQ(minute_of({second_with(0, 1, 1), second_with(1, 9, 0)}).figures()->requests, 1);
}

TEST(ServiceMinute, ASecondWithoutRequestsHasNoGoodputAndNoLatency) {
  const auto figures = minute_of({second_with(0, 0, 0), second_with(1, 0, 0)}).figures();
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->requests, 0);
  EXPECT_EQ(figures->goodput(), std::nullopt);
  EXPECT_EQ(figures->latency_p50_ms, std::nullopt);
  EXPECT_EQ(figures->latency_p99_ms, std::nullopt);
}

TEST(ServiceMinute, RequestsWithoutAnAnswerHaveGoodputZero) {
  EXPECT_EQ(minute_of({second_with(0, 10, 0), second_with(1, 10, 0)}).figures()->goodput(), 0);
}

TEST(ServiceMinute, GoodputIsTheAccuracyOfTheAnswersInTime) {
  EXPECT_DOUBLE_EQ(*minute_of({second_with(0, 10, 8), second_with(1, 0, 0)}).figures()->goodput(), 0.72);
}

TEST(ServiceMinute, AnAnswerCountsForTheSecondInWhichItsRequestArrived) {
  sim::MeasuredSecond later = second_with(1, 5, 0);
  later.settled = {{.second = 0, .in_time = 2, .late = 1, .dropped = 3}, {.second = 1, .in_time = 5}};
  const auto figures = *minute_of({second_with(0, 10, 4), later}).figures();
  EXPECT_EQ(figures.requests, 10);
  EXPECT_EQ(figures.in_time, 6);
  EXPECT_EQ(figures.late, 1);
  EXPECT_EQ(figures.dropped, 3);
}

TEST(ServiceMinute, ForgetsWhatIsOlderThanSixtySeconds) {
  ServiceMinute minute;
  add_second(minute, second_with(0, 1000, 1000, {{.latency_us = 5'000'000, .count = 1000}}));
  for (int i = 1; i < 60; ++i) add_second(minute, second_with(i, 2, 1, {{.latency_us = 20'000, .count = 1}}));
  EXPECT_EQ(minute.figures()->requests, 1000 + 58 * 2);
  EXPECT_NEAR(*minute.figures()->latency_p99_ms, 5000, 20);
  for (int i = 60; i < 62; ++i) add_second(minute, second_with(i, 2, 1, {{.latency_us = 20'000, .count = 1}}));
  EXPECT_EQ(minute.figures()->seconds, 60);
  EXPECT_EQ(minute.figures()->requests, 60 * 2);
  EXPECT_EQ(minute.figures()->in_time, 60);
  EXPECT_NEAR(*minute.figures()->latency_p99_ms, 20, 20 * 0.004);
}

TEST(ServiceMinute, SecondsThatAreMissingCountForNothing) {
  sim::MeasuredSecond later = second_with(5, 1, 1);
  later.settled.push_back({.second = 3, .in_time = 9});  // its requests are unknown
  const auto figures = *minute_of({second_with(0, 7, 7), second_with(1, 7, 7), later, second_with(6, 1, 1)}).figures();
  EXPECT_EQ(figures.seconds, 3);
  EXPECT_EQ(figures.requests, 15);
  EXPECT_EQ(figures.in_time, 15);
}

TEST(ServiceMinute, WhatIsOlderThanTheWindowIsForgottenAlsoAcrossAGap) {
  const std::vector<sim::LatencyCount> slow{{.latency_us = 5'000'000, .count = 9}};
  for (const std::int64_t next : {61, 119, 120, 121, 1000}) {
    const auto figures =
        *minute_of({second_with(0, 7, 7, slow), second_with(next, 2, 1), second_with(next + 1, 2, 1)}).figures();
    EXPECT_EQ(figures.requests, 2) << next;
    EXPECT_EQ(figures.seconds, 1) << next;
    EXPECT_EQ(figures.latency_p99_ms, std::nullopt) << next;
  }
}

/// Requests wait for up to 90 s and have any outcome: each window counts at most the requests that arrived in it, and
/// over the whole run every answer in time is counted exactly once.
TEST(ServiceMinute, NeverCountsMoreThanArrivedAndMissesNoAnswerInTime) {
  constexpr std::int64_t kSeconds = 420;  // seven whole windows
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const Micros target(static_cast<std::int64_t>(50'000 + rng.below(4'000'000)));
    std::vector<sim::MeasuredSecond> seconds(kSeconds + 10);
    std::int64_t in_time_sum = 0;
    for (std::int64_t second = 0; second < std::ssize(seconds); ++second) {
      auto& own = seconds[static_cast<std::size_t>(second)];
      own.seen.second = second;
      own.seen.arrivals = second < kSeconds ? static_cast<std::int64_t>(rng.below(20)) : 0;
      for (std::int64_t i = 0; i < own.seen.arrivals; ++i) {
        const auto arrived = second * 1'000'000 + static_cast<std::int64_t>(rng.below(1'000'000));
        const bool is_in_time = rng.below(4) > 0;
        const auto waits = static_cast<std::int64_t>(
            rng.below(is_in_time ? static_cast<std::uint64_t>(target.count()) : std::uint64_t{90'000'000}));
        const std::int64_t settled_in = (arrived + waits) / 1'000'000;
        if (settled_in >= std::ssize(seconds)) continue;  // it still waits
        in_time_sum += is_in_time ? 1 : 0;
        seconds[static_cast<std::size_t>(settled_in)].settled.push_back({.second = second,
                                                                         .in_time = is_in_time ? 1 : 0,
                                                                         .late = !is_in_time && i % 2 == 0 ? 1 : 0,
                                                                         .dropped = !is_in_time && i % 2 == 1 ? 1 : 0});
      }
    }
    const std::int64_t target_seconds = (target.count() + 999'999) / 1'000'000;
    ServiceMinute minute;
    std::int64_t counted = 0;
    for (std::int64_t second = 0; second < kSeconds + target_seconds; ++second) {
      add_second(minute, seconds[static_cast<std::size_t>(second)], target);
      const auto figures = minute.figures();
      ASSERT_EQ(figures.has_value(), second >= target_seconds);
      if (!figures) continue;
      ASSERT_LE(figures->in_time + figures->late + figures->dropped, figures->requests) << seed << " at " << second;
      if ((second - target_seconds) % 60 == 59) counted += figures->in_time;
    }
    ASSERT_GT(in_time_sum, 0);
    EXPECT_EQ(counted, in_time_sum) << seed;
  }
}

TEST(ServiceMinute, PercentilesAreByNearestRankWithinFourPerMille) {
  for (const std::int64_t unit : {1, 37, 1000, 123'457}) {
    std::vector<sim::LatencyCount> latencies;
    for (std::int64_t i = 100; i >= 1; --i) latencies.push_back({.latency_us = i * unit, .count = 3});
    const auto figures = *minute_of({second_with(0, 0, 0), second_with(1, 300, 300, latencies)}).figures();
    const auto unit_ms = static_cast<double>(unit) / 1000;
    EXPECT_NEAR(*figures.latency_p50_ms, 50 * unit_ms, 50 * unit_ms * 0.004) << unit;
    EXPECT_NEAR(*figures.latency_p99_ms, 99 * unit_ms, 99 * unit_ms * 0.004) << unit;
  }
}

/// The figures of a second of a fleet of 10 SMs.
void read(FleetMinute& fleet, std::int64_t second, double allocated, double busy, double effective) {
  const FleetMinute::Reading reading{.at = Instant::at_second(second),
                                     .sm_time = {.allocated_us = allocated, .busy_us = busy}};
  if (const auto figures = fleet.read(reading, 10, effective)) fleet.add(reading.at, *figures);
}

TEST(FleetMinute, SharesAreOfTheFleetOverTheWindow) {
  FleetMinute fleet;
  EXPECT_FALSE(fleet.shares().has_value());
  read(fleet, 0, 0, 0, 0);
  EXPECT_FALSE(fleet.shares().has_value());
  read(fleet, 1, 8e6, 4e6, 1e6);
  EXPECT_DOUBLE_EQ(fleet.shares()->allocated, 0.8);
  EXPECT_DOUBLE_EQ(fleet.shares()->busy, 0.4);
  EXPECT_DOUBLE_EQ(fleet.shares()->effective, 0.1);
  // Nothing happens for more than a minute: the first second leaves the window.
  for (int second = 2; second <= 61; ++second) read(fleet, second, 8e6, 4e6, 0);
  EXPECT_DOUBLE_EQ(fleet.shares()->allocated, 0);
}

TEST(FleetMinute, SumsThatBeginAnewLeaveWhatWasBefore) {
  FleetMinute fleet;
  read(fleet, 0, 0, 0, 0);
  read(fleet, 1, 8e6, 4e6, 1e6);
  fleet.begin({.at = Instant::at_second(3), .sm_time = {}});
  read(fleet, 4, 4e6, 4e6, 1e6);
  EXPECT_DOUBLE_EQ(fleet.shares()->allocated, 0.6);
  EXPECT_DOUBLE_EQ(fleet.shares()->busy, 0.4);
}

TEST(FleetMinute, AFleetWithoutSmsHasNoShares) {
  FleetMinute fleet;
  fleet.begin({.at = Instant(), .sm_time = {}});
  fleet.add(Instant::at_second(1), *fleet.read({.at = Instant::at_second(1), .sm_time = {}}, 0, 0));
  EXPECT_FALSE(fleet.shares().has_value());
}

}  // namespace
}  // namespace berth::live
