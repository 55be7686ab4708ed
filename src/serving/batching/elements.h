/// Single elements of tensors as numbers.
#pragma once

#include <string>
#include <vector>

#include "domain/values/tensor.h"

namespace berth::serving {

[[nodiscard]] bool is_float(TensorType type);

/// Appends the bytes of a number, as an element of that type. Requires: not kBytes; the number is finite, from 0 to
/// 100.
void append_element(std::string& bytes, TensorType type, double value);

/// All elements. Requires: is_float(tensor.type).
[[nodiscard]] std::vector<double> float_elements(const Tensor& tensor);

}  // namespace berth::serving
