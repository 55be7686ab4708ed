/// What the rivals' predictions depend on: figures of two tiers, and a workload's points on one of them.
#pragma once

#include <vector>

#include "tier/evaluate/ratio_spread.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Logarithms of ratios of two tiers: compute, bandwidth and memory; of prices where a tier does not state them.
[[nodiscard]] std::vector<double> tier_pair_features(const Tier& from, const Tier& to);

/// Of a point and of all points on a tier, as logarithms: the point's batch and processes, the rate at the first point,
/// the point's rate over it (slope), and the largest rate over it (saturation). Requires: `points` is not empty.
[[nodiscard]] std::vector<double> workload_features(const std::vector<TierPoint>& points, const TierPoint& point);

}  // namespace berth::tier
