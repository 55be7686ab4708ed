/// Nodes whose output is their input.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Takes out: Identity; Dropout, unless it trains; Cast to the type that the value has; Transpose that keeps the order;
/// Reshape, Flatten, Slice, Pad, Expand and Tile that change nothing; + 0, - 0, * 1, / 1, ** 1; Concat, Sum, Max, Min
/// and Mean of one value.
[[nodiscard]] Result<bool> drop_no_ops(Model& model, const PassContext& context);

}  // namespace berth::models
