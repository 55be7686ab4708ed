/// The numbers in outputs of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/values/tensor.h"

namespace berth::models::detail {

[[nodiscard]] bool is_float(TensorType type);
/// Truth values aside.
[[nodiscard]] bool is_integer(TensorType type);

/// The index of the first output of a float type; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> first_float(std::span<const Tensor> outputs);

/// Exactly. Requires: a float type.
[[nodiscard]] std::vector<double> doubles_of(const Tensor& tensor);
/// Those of 64 bits without a sign that are too large become negative. Requires: an integer type.
[[nodiscard]] std::vector<std::int64_t> integers_of(const Tensor& tensor);

}  // namespace berth::models::detail
