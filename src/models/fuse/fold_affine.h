/// What is multiplied and added after a convolution or a product of matrices goes into its weights.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// BatchNormalization (as in inference), and Mul, Div, Add or Sub with a constant per channel, after Conv,
/// ConvTranspose, Gemm or MatMul, with constant weights, that nothing else sees the result of. A MatMul of matrices to
/// which something is added becomes Gemm; of more dimensions it is scaled alone. Computed in double, rounded once.
/// Weights that would not be finite stay as they are.
[[nodiscard]] Result<bool> fold_affine(Model& model, const PassContext& context);

/// The same before a Conv without padding, Gemm or MatMul; where nothing is added, also before a Conv with padding.
[[nodiscard]] Result<bool> fold_affine_before(Model& model, const PassContext& context);

}  // namespace berth::models
