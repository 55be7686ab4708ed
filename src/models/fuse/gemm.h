/// Products of matrices.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// MatMul of two matrices (2 dimensions) and the Add of one number per column after it become Gemm. Floats of all sizes
/// but bfloat16.
[[nodiscard]] Result<bool> make_gemm(Model& model, const PassContext& context);

}  // namespace berth::models
