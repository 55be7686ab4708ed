#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "models/profiling/measure_points.h"
#include "models/profiling/point_figures.h"
#include "models/profiling/sampled_times.h"

namespace berth::models {
namespace {

/// A turn of one process with these times, back to back.
TurnTimes turn_of(const std::vector<double>& times_us) {
  SampledTimes times;
  double elapsed = 0;
  for (const double time : times_us) {
    times.add(time);
    elapsed += time;
  }
  return {.processes = {times.times(elapsed)}};
}

/// The sum of twelve uniform draws, less 6: nearly normal.
double normal_draw(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum;
}

TEST(SampledTimes, KeepsEachUntilThereAreTooMany) {
  SampledTimes times;
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) times.add(i);
  const ProcessTimes all = times.times(7);
  EXPECT_EQ(all.count, kCount);
  EXPECT_EQ(all.sum_us, kCount * (kCount - 1) / 2.0);
  EXPECT_EQ(all.elapsed_us, 7);
  EXPECT_EQ(all.stride, 8);
  ASSERT_EQ(all.sample_us.size(), kCount / 8);
  for (std::size_t i = 0; i < all.sample_us.size(); ++i) ASSERT_EQ(all.sample_us[i], 8.0 * static_cast<double>(i));
}

TEST(PointFigures, EqualTimesHaveNoInterval) {
  const std::vector<TurnTimes> turns = {turn_of({10, 10}), turn_of({10, 10, 10})};
  const ProfilePoint point = point_figures(turns, 4);
  EXPECT_EQ(point, (ProfilePoint{.batch = 4,
                                 .rows_per_second = 400'000,
                                 .mean_us = 10,
                                 .mean_us_low = 10,
                                 .mean_us_high = 10,
                                 .p50_us = 10,
                                 .p99_us = 10,
                                 .batches = 5}));
}

TEST(PointFigures, PercentilesAreOfBatchesWhateverWasSampled) {
  TurnTimes turn = turn_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(point_figures(std::vector{turn, turn}, 1).p50_us, 5);
  EXPECT_EQ(point_figures(std::vector{turn, turn}, 1).p99_us, 10);
  TurnTimes sparse{.processes = {{.count = 100, .sum_us = 300, .elapsed_us = 300, .sample_us = {3}, .stride = 100}}};
  EXPECT_EQ(point_figures(std::vector{turn, sparse}, 1).p50_us, 3);
}

TEST(PointFigures, ProcessesAddUp) {
  TurnTimes turn = turn_of({10, 10});
  turn.processes.push_back(turn_of({20}).processes[0]);
  const ProfilePoint point = point_figures(std::vector{turn, turn}, 1);
  EXPECT_EQ(point.rows_per_second, 6 / 40e-6);
  EXPECT_EQ(point.mean_us, 40.0 / 3);
  EXPECT_EQ(point.batches, 6);
}

TEST(PointFigures, OneTurnSaysNothingOfItsError) {
  const std::vector<TurnTimes> turns = {turn_of({10, 11})};
  EXPECT_TRUE(std::isinf(mean_interval(turns).high));
  EXPECT_EQ(mean_interval(turns).low, 0);
}

/// The share of intervals that hold the true mean, 100, where neighbouring turns have this correlation.
double coverage(double correlation, int turn_count) {
  constexpr int kTrials = 2000;
  Rng rng(1);
  int kept = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    double deviation = normal_draw(rng) / std::sqrt(1 - correlation * correlation);
    std::vector<TurnTimes> turns;
    for (int i = 0; i < turn_count; ++i) {
      turns.push_back(turn_of(std::vector<double>(3, 100 + deviation)));
      deviation = correlation * deviation + normal_draw(rng);
    }
    const MeanInterval interval = mean_interval(turns);
    if (interval.low <= 100 && 100 <= interval.high) ++kept;
  }
  return static_cast<double>(kept) / kTrials;
}

TEST(PointFigures, IntervalsHoldAlsoWhereNeighboursAreAlike) {
  EXPECT_GE(coverage(0, 16), 0.945);
  EXPECT_LE(coverage(0, 16), 0.99);
  EXPECT_GE(coverage(0.3, 16), 0.92);
  EXPECT_GE(coverage(0.6, 48), 0.92);
}

/// A machine on which a batch of b rows takes 50 + 10 b, more or less.
struct Machine {
  double noise = 0;
  int batch_max = 1000;
  Rng rng{3};
  std::vector<std::pair<int, int>> order = {};

  TurnTimes run(const TurnOrder& turn) {
    order.emplace_back(turn.batch, turn.processes);
    if (turn.batch > batch_max) return {.fits = false};
    TurnTimes times;
    for (int process = 0; process < turn.processes; ++process) {
      const double shift = 1 + noise * normal_draw(rng);
      SampledTimes sampled;
      double elapsed = 0;
      do {
        const double time = (50 + 10 * turn.batch) * shift;
        sampled.add(time);
        elapsed += time;
      } while (elapsed < turn.length_us);
      times.processes.push_back(sampled.times(elapsed));
    }
    times.memory_bytes = turn.batch * 100 + static_cast<std::int64_t>(order.size());
    return times;
  }
  [[nodiscard]] MeasureTools tools() {
    return {.run_turn = [this](const TurnOrder& turn) -> Result<TurnTimes> { return run(turn); }};
  }
};

TEST(MeasurePoints, AQuietMachineIsDoneAfterTheLeastTime) {
  Machine machine;
  const auto points =
      measure_points({.batches = {1, 8}, .processes = {1, 2}, .seconds_min = 0.1}, machine.tools()).value();
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].batch, 1);
  EXPECT_EQ(points[1].batch, 8);
  EXPECT_EQ(points[1].processes, 1);
  EXPECT_EQ(points[2].processes, 2);
  EXPECT_NEAR(points[0].mean_us, 60, 1e-9);
  EXPECT_NEAR(points[3].mean_us, 130, 1e-9);
  EXPECT_NEAR(points[3].rows_per_second, 2 * 8 / 130e-6, 1e-3);
  EXPECT_NEAR(static_cast<double>(points[0].batches), 0.1 / 60e-6, 20);
  EXPECT_FALSE(points[0].is_short);
  EXPECT_EQ(points[1].memory_bytes, 802);  // as of its warm-up
}

TEST(MeasurePoints, ANoisyOneGetsThreeTimesAsMuchAndIsMarked) {
  Machine machine{.noise = 0.2};
  const auto points = measure_points({.batches = {1}, .seconds_min = 0.1}, machine.tools()).value();
  EXPECT_TRUE(points[0].is_short);
  EXPECT_NEAR(static_cast<double>(points[0].batches) * points[0].mean_us, 3 * 1e5, 1e4);
  EXPECT_GT(points[0].mean_us_high, points[0].mean_us * 1.02);
}

TEST(MeasurePoints, RoundsAreInRandomOrderThatTheSeedDecides) {
  const auto order_with = [](std::uint64_t seed) {
    Machine machine;
    EXPECT_TRUE(measure_points({.batches = {1, 2, 4, 8}, .seconds_min = 0.1, .seed = seed}, machine.tools()));
    return machine.order;
  };
  const auto order = order_with(2);
  EXPECT_EQ(order, order_with(2));
  EXPECT_NE(order, order_with(1));
  std::map<int, int> firsts;
  for (std::size_t i = 4; i + 4 <= 4 + 4 * 16; i += 4) ++firsts[order[i].first];
  EXPECT_EQ(firsts.size(), 4U);  // each size begins some round
  EXPECT_EQ(order[0], std::pair(1, 1));
  EXPECT_EQ(order[3], std::pair(8, 1));
}

TEST(MeasurePoints, ABatchMayTakeLongerThanAllTheTime) {
  Machine machine;
  const auto points = measure_points({.batches = {1}, .seconds_min = 1e-5}, machine.tools()).value();
  EXPECT_EQ(points[0].batches, 2);
}

TEST(MeasurePoints, WhatDoesNotFitIsAPoint) {
  Machine machine{.batch_max = 4};
  const auto points = measure_points({.batches = {4, 8}, .seconds_min = 0.01}, machine.tools()).value();
  EXPECT_TRUE(points[0].fits);
  EXPECT_EQ(points[1], (ProfilePoint{.batch = 8, .fits = false}));
}

TEST(MeasurePoints, ErrorsAndInterruptsEndIt) {
  MeasureTools broken{.run_turn = [](const TurnOrder&) -> Result<TurnTimes> { return invalid("broken"); }};
  EXPECT_EQ(measure_points({}, broken).error().message, "broken");
  Machine machine;
  MeasureTools tools = machine.tools();
  tools.should_stop = [&machine] { return machine.order.size() == 7; };
  EXPECT_EQ(measure_points({}, tools).error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(machine.order.size(), 7U);
}

}  // namespace
}  // namespace berth::models
