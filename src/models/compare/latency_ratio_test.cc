#include "models/compare/latency_ratio.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/rng.h"

namespace berth::models {
namespace {

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({5, 1, 3}), 3);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

TEST(LatencyRatio, ComparesRoundByRound) {
  // A machine that becomes ten times as slow in between.
  const std::vector<double> original = {10, 10, 100, 100, 100, 10};
  const std::vector<double> variant = {5, 5, 50, 50, 50, 5};
  EXPECT_EQ(latency_ratio(original, variant), (LatencyRatio{.ratio = 0.5, .low = 0.5, .high = 0.5}));
}

TEST(LatencyRatio, TakesTheRanksOfTheSignTest) {
  const auto bounds = [](std::size_t count) {
    const std::vector<double> ones(count, 1);
    std::vector<double> ranks;
    for (std::size_t i = 0; i < count; ++i) ranks.push_back(static_cast<double>(i + 1));
    const LatencyRatio ratio = latency_ratio(ones, ranks);
    return std::pair(ratio.low, ratio.high);
  };
  // Tables of the sign test: the largest k with P(fewer than k below the median) <= 0.025.
  EXPECT_EQ(bounds(5), std::pair(1.0, 5.0));
  EXPECT_EQ(bounds(6), std::pair(1.0, 6.0));
  EXPECT_EQ(bounds(8), std::pair(1.0, 8.0));
  EXPECT_EQ(bounds(9), std::pair(2.0, 8.0));
  EXPECT_EQ(bounds(20), std::pair(6.0, 15.0));
  EXPECT_EQ(bounds(100), std::pair(40.0, 61.0));
}

TEST(LatencyRatio, CoversTheMedianOfAnyDistribution) {
  constexpr int kTrials = 4000;
  Rng rng(1);
  for (const int rounds : {6, 17, 50}) {
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> original;
      std::vector<double> variant;
      for (int i = 0; i < rounds; ++i) {
        original.push_back(1);
        const double unit = rng.unit();
        variant.push_back(unit < 0.5 ? 0.8 + 0.4 * unit : 1 + 0.001 / (1.0001 - unit));  // a long tail of slow rounds
      }
      const LatencyRatio ratio = latency_ratio(original, variant);
      covered += ratio.low <= 1.001 && ratio.high >= 1 ? 1 : 0;
    }
    EXPECT_GE(covered, kTrials * 94 / 100) << rounds;
  }
}

}  // namespace
}  // namespace berth::models
