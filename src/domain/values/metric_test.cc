#include "domain/values/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(MetricHistogram, BoundsAreInclusive) {
  MetricHistogram histogram = empty_histogram({0.1, 1});
  for (const double value : {0.05, 0.1, 0.2, 1.0, 7.0}) observe(histogram, value);
  EXPECT_THAT(histogram.counts, ::testing::ElementsAre(2, 2, 1));
  EXPECT_DOUBLE_EQ(histogram.sum, 8.35);
}

TEST(MetricHistogram, TimesAscend) {
  const MetricHistogram times = empty_times();
  EXPECT_TRUE(std::ranges::is_sorted(times.bounds));
  EXPECT_EQ(times.counts.size(), times.bounds.size() + 1);
}

}  // namespace
}  // namespace berth
