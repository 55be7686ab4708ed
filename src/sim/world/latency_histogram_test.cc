#include "sim/world/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/rng.h"

namespace berth::sim {
namespace {

TEST(LatencyHistogram, OfNothingKnowsNothing) {
  const LatencyHistogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_FALSE(empty.mean_ms().has_value());
  EXPECT_FALSE(empty.percentile_ms(50).has_value());
}

TEST(LatencyHistogram, IsWithinOneTwentiethOfAPercentEverywhere) {
  for (int magnitude = 0; magnitude < 63; ++magnitude) {
    const std::int64_t low = std::int64_t{1} << magnitude;
    for (const std::int64_t value : {low - 1, low, low + 1, low + low / 3, low + low / 2, low + (low - 1)}) {
      if (value < 0) continue;
      LatencyHistogram histogram;
      histogram.add(value);
      const double wanted = static_cast<double>(value) / 1000;
      EXPECT_NEAR(*histogram.percentile_ms(50), wanted, wanted * 0.0005) << value;
      EXPECT_DOUBLE_EQ(*histogram.mean_ms(), wanted) << value;
    }
  }
}

TEST(LatencyHistogram, TakesTheNearestRank) {
  LatencyHistogram histogram;
  for (const std::int64_t value : {100, 200, 300, 400}) histogram.add(value);
  const std::vector<std::pair<int, double>> cases = {{1, 0.1},  {25, 0.1}, {26, 0.2}, {50, 0.2}, {51, 0.3},
                                                     {75, 0.3}, {76, 0.4}, {99, 0.4}, {100, 0.4}};
  for (const auto& [percent, wanted] : cases) EXPECT_DOUBLE_EQ(*histogram.percentile_ms(percent), wanted) << percent;
}

TEST(LatencyHistogram, CountsAndJoins) {
  LatencyHistogram once;
  once.add(1000, 3);
  once.add(3000);
  LatencyHistogram other;
  other.add(5'000'000'000, 1);
  once.add_all(other);
  EXPECT_EQ(once.count(), 5U);
  EXPECT_DOUBLE_EQ(*once.mean_ms(), (3.0 + 3 + 5'000'000) / 5);
  EXPECT_DOUBLE_EQ(*once.percentile_ms(60), 1);
  EXPECT_NEAR(*once.percentile_ms(99), 5e6, 5e6 * 0.0005);
}

TEST(LatencyHistogram, AgreesWithSortingAnyValues) {
  Rng rng(3);
  std::vector<std::int64_t> values;
  LatencyHistogram histogram;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(static_cast<std::int64_t>(rng.below(std::uint64_t{1} << (1 + rng.below(40)))));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (int percent = 1; percent <= 100; ++percent) {
    const auto rank = static_cast<std::size_t>((values.size() * static_cast<std::size_t>(percent) + 99) / 100);
    const double wanted = static_cast<double>(values[rank - 1]) / 1000;
    EXPECT_NEAR(*histogram.percentile_ms(percent), wanted, wanted * 0.0005) << percent;
  }
}

}  // namespace
}  // namespace berth::sim
