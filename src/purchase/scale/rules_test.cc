// Target tracking and bands, each rule on a load worked out by hand.
#include "purchase/scale/rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::scale {
namespace {

using Wants = std::vector<std::int64_t>;

/// A load that is constant between these changes.
struct Step {
  std::int64_t until = 0;
  std::uint32_t count = 0;
};

std::vector<std::uint32_t> load_of(const std::vector<Step>& steps) {
  std::vector<std::uint32_t> counts;
  for (const Step& step : steps) counts.resize(static_cast<std::size_t>(step.until), step.count);
  return counts;
}

Problem ten_per_replica(const std::vector<std::uint32_t>& counts) {
  return {.load = {.counts = counts, .from_second = 0},
          .rate = *ReplicaRate::of(Decimal(10)),
          .wait_seconds = 1,
          .start_seconds = 20,
          .attainment = Decimal(99, 100)};
}

/// What is wanted at each multiple of `period` seconds.
template <class Decide>
Wants wants_every(std::int64_t period, const Problem& problem, std::int64_t ready, Decide&& decide) {
  Wants wants;
  static_cast<void>(serve_run(problem, ready, [&](const Moment& moment) {
    const std::int64_t want = decide(moment);
    if (moment.second % period == 0) wants.push_back(want);
    return want;
  }));
  return wants;
}

Wants tracked(const std::vector<Step>& steps, std::int64_t ready, Tracking tracking) {
  const std::vector<std::uint32_t> counts = load_of(steps);
  const Problem problem = ten_per_replica(counts);
  TargetTracking rule(problem, tracking);
  return wants_every(15, problem, ready, [&](const Moment& moment) { return rule.want(moment); });
}

TEST(TargetTracking, WaitsForSecond60ThenGoesUpAtOnce) {
  // 70 per second at 7 per replica: 10 replicas.
  EXPECT_EQ(tracked({{91, 70}}, 2, {}), (Wants{2, 2, 2, 2, 10, 10, 10}));
}

TEST(TargetTracking, RoundsUp) { EXPECT_EQ(tracked({{61, 71}}, 2, {}).back(), 11); }

TEST(TargetTracking, StaysWithinATenth) {
  EXPECT_EQ(tracked({{61, 77}}, 10, {}).back(), 10);  // x / n = 1.1 exactly
  EXPECT_EQ(tracked({{61, 78}}, 10, {}).back(), 12);
  EXPECT_EQ(tracked({{61, 63}}, 10, {}).back(), 10);  // 0.9 exactly
  EXPECT_EQ(tracked({{61, 62}}, 10, {}).back(), 9);
}

TEST(TargetTracking, KeepsOneReplica) {
  EXPECT_EQ(tracked({{61, 0}}, 3, {}).back(), 1);
  EXPECT_EQ(tracked({{61, 0}}, 0, {}).back(), 1);
}

TEST(TargetTracking, LooksAtTheLast15Seconds) {
  EXPECT_EQ(tracked({{45, 700}, {61, 70}}, 2, {}).back(), 10);
  EXPECT_EQ(tracked({{45, 0}, {60, 14}, {61, 999}}, 1, {}).back(), 2);
}

TEST(TargetTracking, GoesDownToTheLargestAnswerOfTheHold) {
  // Answers: 10 at 60, then 5 from 75 on. The answer of 60 counts in (t - 60, t], until 105 and not at 120.
  EXPECT_EQ(tracked({{60, 70}, {136, 35}}, 1, {.target_twentieths = 14, .hold_seconds = 60}),
            (Wants{1, 1, 1, 1, 10, 10, 10, 10, 5, 5}));
  // The initial replicas are not an answer: nothing holds them.
  EXPECT_EQ(tracked({{91, 35}}, 20, {.target_twentieths = 14, .hold_seconds = 300}), (Wants{20, 20, 20, 20, 5, 5, 5}));
}

TEST(TargetTracking, CountsStartingReplicas) {
  // At 75 the ten are still starting; they are the current number.
  EXPECT_EQ(tracked({{76, 70}}, 0, {}), (Wants{0, 0, 0, 0, 10, 10}));
}

Wants banded(const std::vector<Step>& steps, std::int64_t ready) {
  const std::vector<std::uint32_t> counts = load_of(steps);
  const Problem problem = ten_per_replica(counts);
  return wants_every(60, problem, ready, [&](const Moment& moment) { return want_of_bands(problem, moment); });
}

TEST(Bands, MoveByOneReplicaEveryMinute) {
  EXPECT_EQ(banded({{241, 100}}, 8), (Wants{8, 9, 10, 11, 12}));
  EXPECT_EQ(banded({{241, 3}}, 4), (Wants{4, 3, 2, 1, 1}));
}

TEST(Bands, AreStrictAtTheirLimits) {
  EXPECT_EQ(banded({{61, 84}}, 10).back(), 10);
  EXPECT_EQ(banded({{61, 85}}, 10).back(), 11);
  EXPECT_EQ(banded({{61, 35}}, 10).back(), 10);
  EXPECT_EQ(banded({{61, 34}}, 10).back(), 9);
}

TEST(Bands, StartOneWhereThereIsNone) { EXPECT_EQ(banded({{121, 0}}, 0), (Wants{0, 1, 1})); }

TEST(Bands, DecideOnlyEveryMinute) {
  const std::vector<std::uint32_t> counts = load_of({{120, 100}});
  const Problem problem = ten_per_replica(counts);
  EXPECT_EQ(want_of_bands(problem, {.second = 61, .ready = 1, .starting = 1}), 2);
  EXPECT_EQ(want_of_bands(problem, {.second = 0, .ready = 1, .starting = 1}), 2);
}

}  // namespace
}  // namespace berth::scale
