#include "tier/estimate/detail/spread.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::tier {
namespace {

/// Anchor 0; variances 0.04, 0.09, 0.16 of tiers 1, 2, 3; covariances 0.03 (1, 2), 0.02 (1, 3), 0.06 (2, 3).
Spread known_spread() {
  Spread spread{.tier_count = 4, .degrees = 5, .covariances = std::vector<double>(64)};
  const double values[4][4] = {{0, 0, 0, 0}, {0, 0.04, 0.03, 0.02}, {0, 0.03, 0.09, 0.06}, {0, 0.02, 0.06, 0.16}};
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) spread.covariances[a * 4 + b] = values[a][b];
  }
  return spread;
}

TEST(Spread, WithoutAMeasurementTheResidualIsAsLearned) {
  const ResidualBelief belief = condition(known_spread(), 0, 2, {});
  EXPECT_DOUBLE_EQ(belief.mean, 0);
  EXPECT_DOUBLE_EQ(belief.deviation, 0.3);
}

TEST(Spread, OneMeasurementByHand) {
  const ResidualBelief belief =
      condition(known_spread(), 0, 2, std::vector<SeenResidual>{{.tier = 1, .residual = 0.1}});
  EXPECT_NEAR(belief.mean, 0.03 / 0.04 * 0.1, 1e-12);
  EXPECT_NEAR(belief.deviation, std::sqrt(0.09 - 0.03 * 0.03 / 0.04), 1e-12);
}

TEST(Spread, TwoMeasurementsByHand) {
  const ResidualBelief belief = condition(
      known_spread(), 0, 3, std::vector<SeenResidual>{{.tier = 1, .residual = 0.1}, {.tier = 2, .residual = -0.2}});
  // Inverse of [[0.04, 0.03], [0.03, 0.09]]: 1 / 0.0027 x [[0.09, -0.03], [-0.03, 0.04]]; times (0.02, 0.06): (0, 2/3).
  EXPECT_NEAR(belief.mean, 2.0 / 3 * -0.2, 1e-12);
  EXPECT_NEAR(belief.deviation, std::sqrt(0.16 - 2.0 / 3 * 0.06), 1e-12);
}

TEST(Spread, APartOfTheVarianceAlwaysStays) {
  Spread spread = known_spread();
  spread.covariances[1 * 4 + 2] = spread.covariances[2 * 4 + 1] = 0.06;  // 0.06^2 = 0.04 x 0.09: fully correlated
  const ResidualBelief belief = condition(spread, 0, 2, std::vector<SeenResidual>{{.tier = 1, .residual = 0.1}});
  EXPECT_NEAR(belief.mean, 0.15, 1e-12);
  EXPECT_NEAR(belief.deviation, 0.3 * std::sqrt(0.02), 1e-12);
}

/// Groups with one workload each, anchor 0, tiers 1 and 2 whose logarithms are 1 and 2.
TrainingRows rows_of(std::size_t group_count) {
  TrainingRows rows;
  for (std::size_t group = 0; group < group_count; ++group) {
    rows.groups.push_back("g" + std::to_string(group));
    for (std::size_t tier = 1; tier <= 2; ++tier) {
      rows.origins.push_back({.workload = group, .group = group, .anchor = 0, .tier = tier, .size = {}});
      rows.learning.targets.push_back(static_cast<double>(tier));
    }
  }
  return rows;
}

TEST(Spread, ManyGroupsOutweighThePriorAndFewDoNot) {
  // The residuals of the two tiers are opposite, which the prior (a walk along the tiers) does not expect.
  const auto covariance_with = [](std::size_t group_count) {
    std::vector<double> residuals;
    for (std::size_t group = 0; group < group_count; ++group) {
      const double residual = group % 2 == 0 ? 0.2 : -0.2;
      residuals.insert(residuals.end(), {residual, -residual});
    }
    return fit_spread(rows_of(group_count), residuals, 3);
  };
  EXPECT_NEAR(covariance_with(1000).covariance(0, 1, 2), -0.04, 0.001);
  EXPECT_GT(covariance_with(2).covariance(0, 1, 2), 0);
  EXPECT_EQ(covariance_with(1000).degrees, 30);
  EXPECT_EQ(covariance_with(2).degrees, 3);
  EXPECT_TRUE(is_well_formed(covariance_with(2)));
}

}  // namespace
}  // namespace berth::tier
