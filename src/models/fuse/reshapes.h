/// Chains of nodes that change the shape alone.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Reshape, Flatten, Squeeze and Unsqueeze, one after another, become one Reshape, where its shape can be written down:
/// at most one size is not known, or is copied from the input. Unsqueeze of Unsqueeze becomes one Unsqueeze.
[[nodiscard]] Result<bool> merge_reshapes(Model& model, const PassContext& context);

}  // namespace berth::models
