/// Tensors as files: the `input_0.pb` of ONNX's test layout (a TensorProto each).
#pragma once

#include <string_view>

#include "base/core/result.h"
#include "domain/values/tensor.h"

namespace berth::models {

/// Its name may be empty. Errors, "NAME: why": no TensorProto, cut off, a type that TensorType does not have, more or
/// fewer elements than its shape says.
[[nodiscard]] Result<Tensor> read_tensor_file(std::string_view bytes, std::string_view name);

}  // namespace berth::models
