/// Two simple predictors of ratios to the anchor, rivals of the forest.
#pragma once

#include <span>
#include <string>

#include "base/core/result.h"
#include "tier/evaluate/test_run.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// `nearest`: the ratios to the anchor of the most similar workload: by level, slope and saturation on the anchor, and by
/// the ratios that are known. Error: fewer than two groups are left. The function refers to `table`.
[[nodiscard]] Result<EstimateFunction> make_nearest(const TierTable& table,
                                                    std::span<const std::string> groups_left_out);

/// `linear`: a ridge regression of the ratio's logarithm on the features. Error and lifetime as above.
[[nodiscard]] Result<EstimateFunction> make_linear(const TierTable& table,
                                                   std::span<const std::string> groups_left_out);

}  // namespace berth::tier
