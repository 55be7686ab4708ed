/// What models compute from the shapes of values.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Shape, Size, and what is computed from them (Gather, Slice, Concat, Unsqueeze, Squeeze, Reshape, Cast, Add, Sub, Mul
/// and Div of few integers) become constants where the sizes in them are known. The shape that a Reshape is given
/// becomes a constant where each size in it is known, or is that of the reshaped value at the same place (0), but for
/// one (-1).
[[nodiscard]] Result<bool> fold_sizes(Model& model, const PassContext& context);

}  // namespace berth::models
