/// Weights as numbers to compute with, whatever their type.
#pragma once

#include <optional>
#include <vector>

#include "models/graph/constant.h"

namespace berth::models {

/// Whether the type is one of float, double, float16, bfloat16.
[[nodiscard]] bool is_float_type(ElementType type);

/// The elements. Nothing: none of the types above, nor an integer of 8 to 64 bits or bool. Integers beyond 2^53 are
/// rounded.
[[nodiscard]] std::optional<std::vector<double>> to_doubles(const Constant& constant);

/// Rounded to the nearest that the type has. Requires: a type above that is_float_type; as many values as `dims` say.
[[nodiscard]] ConstantPtr from_doubles(ElementType type, Dims dims, const std::vector<double>& values);

}  // namespace berth::models
