/// What rounding leaves of the signal of each node.
#pragma once

#include <vector>

#include "models/int8/choose_int8.h"
#include "models/int8/int8_plan.h"

namespace berth::models {

/// Of the heavy nodes, in the order of the graph. Requires: statistics and ranges of the plan's range_values.
[[nodiscard]] std::vector<LayerError> layer_errors(const Graph& graph, const Int8Plan& plan,
                                                   const StatisticsByValue& statistics, const RangesByValue& ranges,
                                                   const Int8Settings& settings);

}  // namespace berth::models
