/// Functions that exporters write out, and for which later versions of the standard operators have a name.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// LayerNormalization over the last dimension, from version 17 of the operators on, floats:
///   d = x - ReduceMean(x), y = d / sqrt(ReduceMean(d ** 2) + epsilon) * scale + bias.
[[nodiscard]] Result<bool> name_layer_normalization(Model& model, const PassContext& context);

/// Gelu, from version 20 on, floats: x * 0.5 * (1 + erf(x / sqrt(2))), its factors in any order.
[[nodiscard]] Result<bool> name_gelu(Model& model, const PassContext& context);

}  // namespace berth::models
