/// Estimates from any prediction of ratios: what a tier gives over what the anchor gives, as a logarithm, with a normal
/// spread that is learned by leaving groups out. Rivals of tier/estimate are made of it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "tier/evaluate/test_run.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// One ratio to predict: of a point on the anchor, between that and another tier.
struct RatioQuery {
  const TierWorkload* known = nullptr;  ///< with the rows that are known
  std::size_t anchor = 0;
  std::size_t tier = 0;
  const TierPoint* point = nullptr;  ///< on the anchor
};

/// The natural logarithm of the ratio.
using RatioPredictor = std::function<double(const RatioQuery& query)>;
/// Learns from workloads of a table.
using RatioLearner = std::function<RatioPredictor(const TierTable& table, std::span<const TierWorkload* const> from)>;

/// Learns from all groups but those left out, and the covariance of the residuals between tiers from groups that were
/// left out one at a time; tiers that are measured later correct the others by it. Error: fewer than two groups are
/// left. The function refers to `table`. One call of `learn` per group and one more.
[[nodiscard]] Result<EstimateFunction> make_spread_estimates(const TierTable& table,
                                                             std::span<const std::string> groups_left_out,
                                                             const RatioLearner& learn);

/// The point of the same batch and processes (jobs: the only one); null if there is none.
[[nodiscard]] const TierPoint* same_point(TierKind kind, const std::vector<TierPoint>& points, const TierPoint& point);

/// x with A x = b for a positive definite matrix, row by row; empty if it is not. O(n^3).
[[nodiscard]] std::vector<double> solve_positive(std::vector<double> matrix, std::vector<double> right_side);

}  // namespace berth::tier
