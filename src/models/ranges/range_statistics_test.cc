#include "models/ranges/range_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace berth::models {
namespace {

RangeStatistics statistics_of(const std::vector<float>& values) {
  RangeStatistics statistics;
  statistics.add(values);
  return statistics;
}

TEST(RangeStatistics, OfNothing) {
  const RangeStatistics statistics;
  EXPECT_EQ(statistics.min(), 0);
  EXPECT_EQ(statistics.max(), 0);
  EXPECT_EQ(statistics.finite_count(), 0U);
  EXPECT_TRUE(statistics.bins().empty());
}

TEST(RangeStatistics, CountsValuesInBinsAndZerosApart) {
  const RangeStatistics statistics = statistics_of({0, 3, -1, 3, 0, -0.0F});
  EXPECT_EQ(statistics.min(), -1);
  EXPECT_EQ(statistics.max(), 3);
  EXPECT_EQ(statistics.finite_count(), 6U);
  EXPECT_EQ(statistics.zero_count(), 3U);
  EXPECT_EQ(statistics.energy(), 19);
  // 4 is the power of two above 3, spread over half of the bins.
  const double width = 4.0 / (RangeStatistics::kBinCount / 2);
  EXPECT_EQ(statistics.bins(), (std::vector<RangeStatistics::Bin>{{.low = -1, .width = width, .count = 1},
                                                                  {.low = 3, .width = width, .count = 2}}));
}

TEST(RangeStatistics, APowerOfTwoIsWithinTheLimit) {
  const std::vector<RangeStatistics::Bin> bins = statistics_of({1, -1}).bins();
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins.front().low, -1);
  EXPECT_EQ(bins.back().low, 1);
}

TEST(RangeStatistics, IgnoresWhatIsNotFinite) {
  const float infinite = std::numeric_limits<float>::infinity();
  const RangeStatistics statistics = statistics_of({infinite, 1, -infinite, std::nanf("")});
  EXPECT_EQ(statistics.max(), 1);
  EXPECT_EQ(statistics.min(), 1);
  EXPECT_EQ(statistics.finite_count(), 1U);
  EXPECT_EQ(statistics.not_finite_count(), 3U);
}

TEST(RangeStatistics, HoldsTheSmallestAndTheLargestFloats) {
  const float largest = std::numeric_limits<float>::max();
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(statistics_of({smallest}).bins().front().count, 1U);
  const RangeStatistics both = statistics_of({smallest, largest, -largest});
  ASSERT_EQ(both.bins().size(), 3U);
  EXPECT_EQ(both.bins()[1].low, 0);
}

TEST(RangeStatistics, MergingWithNothingChangesNothing) {
  RangeStatistics merged = statistics_of({1, 2});
  merged.merge(RangeStatistics());
  EXPECT_EQ(merged, statistics_of({1, 2}));
  RangeStatistics nothing;
  nothing.merge(statistics_of({1, 2}));
  EXPECT_EQ(nothing, statistics_of({1, 2}));
}

}  // namespace
}  // namespace berth::models
