#include "domain/forecast/detail/recalibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/rng.h"
#include "domain/forecast/detail/count_law.h"

namespace berth::forecast::detail {
namespace {

/// The mean share of draws around `truth` that lies between the levels 0.1 and 0.9 of `spread`.
double covered(const Spread& spread, double truth) {
  Rng rng(5);
  double inside = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto count = static_cast<double>(rng.poisson(truth));
    inside += std::max(0.0, std::min(spread[10], count + 1) - std::max(spread[2], count));
  }
  return inside / kDraws;
}

TEST(Recalibration, BeginsAsItIs) {
  const Recalibration levels(1'000, 50);
  for (const Moments moments : {Moments{0.4, 0.4}, {8, 20}, {90, 90}}) {
    const Spread spread = spread_of(moments);
    const Spread moved = levels.applied_to(spread);
    for (std::size_t i = 0; i < spread.size(); ++i)
      EXPECT_NEAR(moved[i], spread[i], 0.01 * std::sqrt(moments.variance));
  }
}

TEST(Recalibration, PutsWrongLawsRight) {
  struct Case {
    Moments said;
    double truth;
  };
  // Too wide, too narrow, too low, and small counts that are forecast too often.
  for (const Case& wrong : {Case{{50, 400}, 50}, Case{{50, 15}, 50}, Case{{40, 60}, 50}, Case{{0.5, 0.5}, 0.1}}) {
    Recalibration levels(1'000, 50);
    Rng rng(9);
    const Spread said = spread_of(wrong.said);
    for (int i = 0; i < 3'000; ++i) levels.learn(said, static_cast<double>(rng.poisson(wrong.truth)));
    EXPECT_GT(std::abs(covered(said, wrong.truth) - 0.8), 0.02);
    EXPECT_NEAR(covered(levels.applied_to(said), wrong.truth), 0.8, 0.03) << wrong.said.mean;
  }
}

TEST(Recalibration, ForgetsWhatIsLongAgo) {
  Recalibration levels(200, 50);
  const Spread said = spread_of({.mean = 30, .variance = 30});
  Rng rng(2);
  for (int i = 0; i < 5'000; ++i) levels.learn(said, static_cast<double>(rng.poisson(60)));
  EXPECT_LT(covered(levels.applied_to(said), 30), 0.2);
  for (int i = 0; i < 2'000; ++i) levels.learn(said, static_cast<double>(rng.poisson(30)));
  EXPECT_NEAR(covered(levels.applied_to(said), 30), 0.8, 0.05);
}

}  // namespace
}  // namespace berth::forecast::detail
