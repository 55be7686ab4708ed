#include "domain/trace/detail/rate_shape.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::detail {
namespace {

TEST(BurstyShape, StaysInItsStatesAsLongAsItSays) {
  const BurstyShape shape(Rng(5));
  constexpr std::int64_t kSeconds = 1'000'000;
  std::int64_t burst_count = 0;
  double burst_share = 0;
  bool was_burst = false;
  for (std::int64_t second = 0; second < kSeconds; ++second) {
    const double factor = shape.factor(second);
    ASSERT_GE(factor, 0.5);
    ASSERT_LE(factor, 3.0);
    burst_share += (factor - 0.5) / 2.5 / kSeconds;
    // Halves of a second distinguish the states; stays far below a second are rare.
    const bool is_burst = factor > 1.75;
    if (is_burst && !was_burst) ++burst_count;
    was_burst = is_burst;
  }
  // One fifth of the time, standard error 0.4 x sqrt(24 / 10^6) = 0.002.
  EXPECT_NEAR(burst_share, 0.2, 0.008);
  // One burst in 75 s, less those that halves of a second hide (about 4 %).
  EXPECT_NEAR(static_cast<double>(burst_count), kSeconds / 75.0, kSeconds / 75.0 * 0.07);
}

TEST(BurstyShape, ForgetsAtTheRateOfTheChain) {
  const BurstyShape shape(Rng(6));
  constexpr std::int64_t kSeconds = 400'000;
  constexpr std::int64_t kLag = 12;
  double covariance = 0;
  double variance = 0;
  for (std::int64_t second = 0; second < kSeconds; ++second) {
    const double here = shape.factor(second) - 1;
    variance += here * here;
    covariance += here * (shape.factor(second + kLag) - 1);
  }
  // Correlation exp(-lag (1/60 + 1/15)), a little above it as each second is an average.
  EXPECT_NEAR(covariance / variance, std::exp(-1.0), 0.03);
}

TEST(DiurnalShape, HasMeanOneOverItsWindow) {
  for (const DiurnalShape::Window window :
       {DiurnalShape::Window{0, 86'400}, DiurnalShape::Window{0, 100'000}, DiurnalShape::Window{30'000, 130'000},
        DiurnalShape::Window{7, 10}, DiurnalShape::Window{0, 1}, DiurnalShape::Window{5, 2}}) {
    const DiurnalShape shape(window);
    double sum = 0;
    double factor_max = 0;
    for (std::int64_t second = window.from_second; second < window.from_second + window.seconds; ++second) {
      sum += shape.factor(second);
      factor_max = std::max(factor_max, shape.factor(second));
    }
    EXPECT_NEAR(sum / static_cast<double>(window.seconds), 1, 1e-9);
    EXPECT_LT(factor_max, static_cast<double>(kShapeFactorMax));
  }
}

TEST(DiurnalShape, RunsFromTroughToPeak) {
  const DiurnalShape shape({.from_second = 0, .seconds = 86'400});
  EXPECT_NEAR(shape.factor(0), 0.2, 1e-6);
  EXPECT_NEAR(shape.factor(21'600), 1, 1e-4);
  EXPECT_NEAR(shape.factor(43'200), 1.8, 1e-6);
}

}  // namespace
}  // namespace berth::detail
