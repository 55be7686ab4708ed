/// Weights as the tensors that engines take and give, and back.
#pragma once

#include <optional>
#include <string>

#include "domain/values/tensor.h"
#include "models/graph/constant.h"

namespace berth::models {

/// Nothing: an element type that TensorType does not have.
[[nodiscard]] std::optional<TensorType> tensor_type_of(ElementType type);
[[nodiscard]] ElementType element_type_of(TensorType type);

[[nodiscard]] Constant constant_of(Tensor tensor);
/// Nothing: as tensor_type_of.
[[nodiscard]] std::optional<Tensor> tensor_of(const Constant& constant, std::string name);

}  // namespace berth::models
