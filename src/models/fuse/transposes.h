/// Chains of Transpose.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// A Transpose of a Transpose becomes one.
[[nodiscard]] Result<bool> merge_transposes(Model& model, const PassContext& context);

/// A Transpose of a matrix before Gemm becomes its transA or transB.
[[nodiscard]] Result<bool> transpose_in_gemm(Model& model, const PassContext& context);

}  // namespace berth::models
