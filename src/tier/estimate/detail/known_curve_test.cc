#include "tier/estimate/detail/known_curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::tier {
namespace {

TierPoint point(int batch, int processes, std::int64_t per_second, std::int64_t latency_ms = 0) {
  return {.batch = batch,
          .processes = processes,
          .samples_per_second = Decimal(per_second),
          .latency_ms = Decimal(latency_ms)};
}

const std::vector<TierPoint> kPoints = {point(1, 1, 100, 10), point(4, 1, 200, 30), point(8, 1, 160), point(2, 2, 300)};

TEST(KnownCurve, IsExactAtItsPointsAndStraightInLogarithmsBetween) {
  const KnownCurve curve(kPoints);
  EXPECT_DOUBLE_EQ(curve.per_second({.batch = 4, .processes = 1}), 200);
  EXPECT_NEAR(curve.per_second({.batch = 2, .processes = 1}), std::sqrt(100.0 * 200.0), 1e-9);
}

TEST(KnownCurve, BeyondTheLargestBatchThroughputStays) {
  const KnownCurve curve(kPoints);
  EXPECT_DOUBLE_EQ(curve.per_second({.batch = 64, .processes = 1}), 160);
  EXPECT_DOUBLE_EQ(curve.per_second({.batch = 1, .processes = 2}), 150);
  EXPECT_DOUBLE_EQ(curve.per_second({.batch = 2, .processes = 3}), 300) << "the next smaller number of processes";
}

TEST(KnownCurve, SlopeSaturationAndHeadroom) {
  const KnownCurve curve(kPoints);
  EXPECT_NEAR(curve.slope({.batch = 4, .processes = 1}), 0.5, 1e-12);
  EXPECT_NEAR(curve.slope({.batch = 1, .processes = 1}), 0.5, 1e-12) << "up to the next one";
  EXPECT_NEAR(curve.saturation({.batch = 1, .processes = 1}), std::log(0.5), 1e-12);
  EXPECT_NEAR(curve.headroom({.batch = 2, .processes = 1}), std::log(4), 1e-12);
  EXPECT_TRUE(std::isnan(curve.slope({.batch = 2, .processes = 2})));
  EXPECT_TRUE(std::isnan(curve.saturation({.batch = 2, .processes = 2})));
  EXPECT_EQ(curve.best(), (WorkSize{.batch = 2, .processes = 2}));
  EXPECT_DOUBLE_EQ(curve.rows_max(), 8);
}

TEST(KnownCurve, TheLatencyFactorIsTheMedianOverPoints) {
  // 10 ms for 1 row at 100 per second: 1. 30 ms for 4 rows at 200 per second: 1.5. The larger of two is the middle.
  EXPECT_DOUBLE_EQ(KnownCurve(kPoints).latency_factor(), 1.5);
  EXPECT_DOUBLE_EQ(KnownCurve(std::vector{point(8, 1, 160)}).latency_factor(), 1) << "no latency";
}

}  // namespace
}  // namespace berth::tier
