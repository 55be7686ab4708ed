#include "serving/dispatch/latency_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/rng.h"

namespace berth::serving {
namespace {

constexpr RowCount kRowsMax = 64;

/// 5 ms, and 1 ms for each row.
double true_us(RowCount rows) { return 5000 + 1000.0 * rows; }

LatencyEstimate measured_estimate() {
  std::vector<LatencyPoint> points;
  for (RowCount rows = 1; rows <= kRowsMax; rows *= 2) points.push_back({rows, Micros(std::lround(true_us(rows)))});
  return {points, kRowsMax};
}

/// About 0 on average, with a standard deviation of 1.
double noise(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum;
}

/// Learns `count` batches of random sizes that take `factor` times the true time with that much noise; of the last half
/// of them, the share that took longer than the table said.
double learn_noisy(LatencyEstimate& estimate, int count, double factor, double deviation) {
  Rng rng(1);
  int exceeded = 0;
  for (int batch = 0; batch < count; ++batch) {
    const auto rows = static_cast<RowCount>(1 + rng.below(kRowsMax));
    const Micros time(std::lround(true_us(rows) * factor * std::max(1 + deviation * noise(rng), 0.1)));
    if (batch >= count / 2 && time > estimate.table().at(rows)) ++exceeded;
    estimate.learn(rows, time);
  }
  return exceeded / (count / 2.0);
}

void expect_near_all(const LatencyEstimate& estimate, double factor, double share) {
  for (RowCount rows = 1; rows <= kRowsMax; ++rows) {
    const double wanted = true_us(rows) * factor * (1 + estimate.slack());
    EXPECT_NEAR(static_cast<double>(estimate.table().at(rows).count()), wanted, wanted * share) << rows;
  }
}

TEST(LatencyEstimate, BeginsWithWhatWasMeasured) {
  const LatencyEstimate estimate = measured_estimate();
  EXPECT_EQ(estimate.table().rows_max(), kRowsMax);
  expect_near_all(estimate, 1, 0.001);
}

TEST(LatencyEstimate, ContinuesBeyondWhatWasMeasured) {
  const LatencyEstimate one_size(std::vector<LatencyPoint>{{2, Micros(1000)}}, 8);
  EXPECT_EQ(one_size.table().at(1), one_size.table().at(2));
  EXPECT_EQ(one_size.table().at(8), Micros(4200));  // with the slack that it begins with
  const LatencyEstimate two_sizes(std::vector<LatencyPoint>{{1, Micros(1000)}, {2, Micros(1100)}}, 8);
  EXPECT_EQ(two_sizes.table().at(8), Micros(1785));
  const LatencyEstimate falling(std::vector<LatencyPoint>{{1, Micros(1000)}, {2, Micros(500)}}, 8);
  EXPECT_EQ(falling.table().at(8), Micros(1050));
}

TEST(LatencyEstimate, TakesTheMedianOfABatchSize) {
  const LatencyEstimate estimate(std::vector<LatencyPoint>{{1, Micros(9000)}, {1, Micros(1000)}, {1, Micros(1100)}}, 1);
  EXPECT_EQ(estimate.table().at(1), Micros(1155));
}

TEST(LatencyEstimate, ExactTimesNeedNoSlack) {
  LatencyEstimate estimate = measured_estimate();
  learn_noisy(estimate, 1000, 1, 0);
  EXPECT_EQ(estimate.slack(), 0);
  expect_near_all(estimate, 1, 0.031);
}

TEST(LatencyEstimate, OneBatchInTenTakesLonger) {
  LatencyEstimate estimate = measured_estimate();
  const double exceeded = learn_noisy(estimate, 40'000, 1, 0.1);
  EXPECT_NEAR(exceeded, 0.1, 0.02);
  EXPECT_NEAR(estimate.slack(), 0.13, 0.05);  // 1.3 deviations
  expect_near_all(estimate, 1, 0.1);
}

TEST(LatencyEstimate, FollowsADriftOfAllSizes) {
  LatencyEstimate estimate = measured_estimate();
  learn_noisy(estimate, 500, 1.5, 0.02);
  expect_near_all(estimate, 1.5, 0.08);
  learn_noisy(estimate, 500, 0.8, 0.02);
  expect_near_all(estimate, 0.8, 0.1);
}

TEST(LatencyEstimate, SizesThatDoNotRunFollowHalfOfADrift) {
  LatencyEstimate estimate = measured_estimate();
  for (int batch = 0; batch < 2000; ++batch) estimate.learn(8, Micros(std::lround(true_us(8) * 1.2)));
  const double slack = 1 + estimate.slack();
  EXPECT_NEAR(static_cast<double>(estimate.table().at(8).count()), true_us(8) * 1.2 * slack, 500);
  EXPECT_NEAR(static_cast<double>(estimate.table().at(64).count()), true_us(64) * std::sqrt(1.2) * slack, 3000);
}

TEST(LatencyEstimate, OutliersMoveItLittle) {
  LatencyEstimate estimate = measured_estimate();
  Rng rng(2);
  for (int batch = 0; batch < 10'000; ++batch) {
    const auto rows = static_cast<RowCount>(1 + rng.below(kRowsMax));
    const double factor = rng.below(200) == 0 ? 100 : 1;
    estimate.learn(rows, Micros(std::lround(true_us(rows) * factor)));
  }
  EXPECT_LT(estimate.slack(), 0.1);
  expect_near_all(estimate, 1, 0.12);
}

TEST(LatencyEstimate, SlackIsBounded) {
  LatencyEstimate estimate = measured_estimate();
  learn_noisy(estimate, 2000, 1, 0.5);
  EXPECT_LE(estimate.slack(), LatencyEstimate::kSlackMax);
  for (RowCount rows = 2; rows <= kRowsMax; ++rows) {
    EXPECT_GE(estimate.table().at(rows), estimate.table().at(rows - 1));
  }
}

TEST(LatencyEstimate, TheTableChangesSeldom) {
  LatencyEstimate estimate = measured_estimate();
  learn_noisy(estimate, 1000, 1, 0.02);
  int changes = 0;
  Rng rng(3);
  for (int batch = 0; batch < 1000; ++batch) {
    const auto rows = static_cast<RowCount>(1 + rng.below(kRowsMax));
    if (estimate.learn(rows, Micros(std::lround(true_us(rows) * (1 + 0.02 * noise(rng)))))) ++changes;
  }
  EXPECT_LT(changes, 20);
}

TEST(LatencyEstimate, TimesOfNothingAreAMicrosecond) {
  LatencyEstimate estimate(std::vector<LatencyPoint>{{1, Micros(0)}}, 4);
  for (int batch = 0; batch < 100; ++batch) estimate.learn(4, Micros(0));
  EXPECT_GE(estimate.table().at(1), Micros(1));
}

}  // namespace
}  // namespace berth::serving
