#include "tier/estimate/detail/ridge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace berth::tier {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Anchor 0, tier 1 or 2, whose ratio of prices is 1 or 2; other features unknown but for the time of a batch.
FeatureRow row_of(int tier, double batch_time) {
  FeatureRow row;
  row.fill(kUnknown);
  row[static_cast<std::size_t>(Feature::kPriceRatio)] = tier;
  row[static_cast<std::size_t>(Feature::kTier)] = tier;
  row[static_cast<std::size_t>(Feature::kAnchor)] = 0;
  row[static_cast<std::size_t>(Feature::kStep)] = batch_time;
  return row;
}

LearningRows linear_rows() {
  LearningRows rows;
  for (int i = 0; i < 40; ++i) {
    const int tier = 1 + i % 2;
    const double batch_time = 0.1 * i;
    rows.features.push_back(row_of(tier, batch_time));
    rows.targets.push_back(0.7 * tier + 0.25 * tier * batch_time);
    rows.weights.push_back(1);
  }
  return rows;
}

TEST(Ridge, FindsAProductOfAFigureAndThePrice) {
  const Ridge ridge = fit_ridge(linear_rows(), 3, 1e-6);
  EXPECT_TRUE(is_well_formed(ridge));
  EXPECT_NEAR(predict(ridge, row_of(2, 5)), 0.7 * 2 + 0.25 * 2 * 5, 1e-3);
  EXPECT_NEAR(predict(ridge, row_of(1, 1)), 0.7 + 0.25, 1e-3);
}

TEST(Ridge, AnUnknownFigureIsItsMean) {
  const LearningRows rows = linear_rows();
  const Ridge ridge = fit_ridge(rows, 3, 1);
  const double mean = predict(ridge, row_of(1, kUnknown));
  EXPECT_TRUE(std::isfinite(mean));
  EXPECT_GT(mean, predict(ridge, row_of(1, 0)));
  EXPECT_LT(mean, predict(ridge, row_of(1, 4)));
}

TEST(Ridge, SharesAddUpToThePrediction) {
  const Ridge ridge = fit_ridge(linear_rows(), 3, 1);
  const std::vector<double> shares = shares_of(ridge, row_of(2, 3));
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), ridge.mean), predict(ridge, row_of(2, 3)), 1e-12);
}

TEST(Ridge, AHugePenaltyLeavesTheMean) {
  const Ridge ridge = fit_ridge(linear_rows(), 3, 1e12);
  EXPECT_NEAR(predict(ridge, row_of(2, 4)), ridge.mean, 1e-6);
}

}  // namespace
}  // namespace berth::tier
