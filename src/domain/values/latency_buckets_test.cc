#include "domain/values/latency_buckets.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth {
namespace {

LatencyBuckets buckets_of(const std::vector<std::int64_t>& latencies_us) {
  LatencyBuckets buckets;
  for (const std::int64_t each : latencies_us) buckets.push_back({.bucket = latency_bucket_of(each), .count = 1});
  sort_buckets(buckets);
  return buckets;
}

TEST(LatencyBuckets, TheMiddleIsNearTheValues) {
  for (std::int64_t us = 0; us < INT64_MAX / 3; us = us * 3 / 2 + 1) {
    const std::uint32_t bucket = latency_bucket_of(us);
    EXPECT_LE(bucket, kLatencyBucketMax);
    const auto value = static_cast<double>(us);
    EXPECT_NEAR(latency_bucket_middle_us(bucket), value, value * 0.004) << us;
    const double coarse = latency_bucket_middle_us(coarser_buckets(buckets_of({us})).front().bucket);
    EXPECT_NEAR(coarse, value, std::max(4.0, value * 0.036)) << us;
  }
  EXPECT_LE(latency_bucket_of(INT64_MAX), kLatencyBucketMax);
}

TEST(LatencyBuckets, AddingIsCountingTogether) {
  LatencyBuckets sum = buckets_of({5, 100, 70'000, 70'000});
  add_buckets(sum, buckets_of({1, 100, 90'000}));
  EXPECT_EQ(sum, buckets_of({1, 5, 100, 100, 70'000, 70'000, 90'000}));
  add_buckets(sum, {});
  EXPECT_EQ(sum.size(), 5U);
}

TEST(LatencyBuckets, PercentilesAreByNearestRank) {
  EXPECT_EQ(percentile_us({}, 50), std::nullopt);
  const LatencyBuckets buckets = buckets_of({1, 2, 3, 4});
  EXPECT_EQ(percentile_us(buckets, 50), 2);
  EXPECT_EQ(percentile_us(buckets, 51), 3);
  EXPECT_EQ(percentile_us(buckets, 99), 4);
}

}  // namespace
}  // namespace berth
