/// The estimators that an evaluation compares: ours, and those of two rivals.
#pragma once

#include <span>
#include <string>

#include "base/core/result.h"
#include "tier/evaluate/test_run.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Ours (tier/estimate). Errors: those of its training.
[[nodiscard]] Result<EstimateFunction> make_forest(const TierTable& table,
                                                   std::span<const std::string> groups_left_out);

/// `linear`: the ridge on the same features, with the same spread, without the forest.
[[nodiscard]] Result<EstimateFunction> make_linear(const TierTable& table,
                                                   std::span<const std::string> groups_left_out);

/// `nearest`: the ratios to the anchor of the most similar workload: by level, slope and saturation on the anchor, and
/// by the ratios that are known. Error: fewer than two groups are left. The function refers to `table`.
[[nodiscard]] Result<EstimateFunction> make_nearest(const TierTable& table,
                                                    std::span<const std::string> groups_left_out);

}  // namespace berth::tier
