#include "domain/forecast/detail/count_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace berth::forecast::detail {
namespace {

/// P(count <= n) of the negative binomial distribution with these moments, or Poisson's: summed by logarithms, term by
/// term.
double share_up_to(Moments moments, int n) {
  double sum = 0;
  for (int count = 0; count <= n; ++count) {
    double log_probability = 0;
    if (moments.variance > moments.mean) {
      const double shape = moments.mean * moments.mean / (moments.variance - moments.mean);
      log_probability = std::lgamma(count + shape) - std::lgamma(shape) - std::lgamma(count + 1.0) +
                        shape * std::log(moments.mean / moments.variance) +
                        count * std::log(1 - moments.mean / moments.variance);
    } else {
      log_probability = count * std::log(moments.mean) - moments.mean - std::lgamma(count + 1.0);
    }
    sum += std::exp(log_probability);
  }
  return sum;
}

double spread_quantile(Moments moments, double level) {
  int count = 0;
  while (share_up_to(moments, count) < level) ++count;
  const double below = count == 0 ? 0 : share_up_to(moments, count - 1);
  return count + (level - below) / (share_up_to(moments, count) - below);
}

TEST(CountLaw, SmallMeansAreExact) {
  for (const Moments moments : {Moments{0.02, 0.02}, {0.5, 0.5}, {3, 3}, {3, 9}, {0.5, 4}, {20, 20}, {15, 60}}) {
    const Spread spread = spread_of(moments);
    for (std::size_t i = 0; i < spread.size(); ++i) {
      EXPECT_NEAR(spread[i], spread_quantile(moments, kGridLevels[i]), 1e-6) << moments.mean << " " << kGridLevels[i];
    }
  }
}

TEST(CountLaw, LargeMeansAreNear) {
  for (const Moments moments : {Moments{25, 25}, {60, 60}, {60, 300}, {400, 400}, {400, 12'000}}) {
    const Spread spread = spread_of(moments);
    const double deviation = std::sqrt(moments.variance);
    for (std::size_t i = 0; i < spread.size(); ++i) {
      EXPECT_NEAR(spread[i], spread_quantile(moments, kGridLevels[i]), 0.03 * deviation + 0.02)
          << moments.mean << " " << kGridLevels[i];
    }
  }
}

TEST(CountLaw, LessThanPoissonNoiseIsNarrow) {
  const Spread certain = spread_of({.mean = 7, .variance = 0});
  const Spread none = spread_of({.mean = 0, .variance = 0});
  for (std::size_t i = 0; i < certain.size(); ++i) {
    EXPECT_NEAR(certain[i], 7 + kGridLevels[i], 1e-6);
    EXPECT_NEAR(none[i], kGridLevels[i], 1e-9);
  }
  const Spread narrow = spread_of({.mean = 1'000, .variance = 100});
  EXPECT_NEAR(narrow[10] - narrow[2], 2 * 1.2816 * 10, 0.5);
}

TEST(CountLaw, TheShareBelowIsTheInverse) {
  for (const Moments moments : {Moments{0.3, 0.3}, {4, 9}, {50, 80}, {9, 1}}) {
    const Spread spread = spread_of(moments);
    for (std::size_t i = 0; i < spread.size(); ++i) {
      EXPECT_NEAR(share_below(spread, spread[i]), kGridLevels[i], 1e-9);
    }
    EXPECT_EQ(share_below(spread, -1), 0);
    EXPECT_EQ(share_below(spread, 1e9), 1);
  }
}

}  // namespace
}  // namespace berth::forecast::detail
