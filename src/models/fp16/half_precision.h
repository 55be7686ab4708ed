/// A model that computes in half precision, for devices that gain by it.
#pragma once

#include <cstddef>
#include <string_view>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models {

/// Whether halve_precision lets the operator compute in half precision. Others need more range or digits (sums of
/// squares, powers), or have inputs that are always floats (Resize), or are not known.
[[nodiscard]] bool can_be_half(std::string_view op);

struct HalfPrecision {
  Model model;
  std::size_t half_count = 0;   ///< nodes that compute in float16 now
  std::size_t float_count = 0;  ///< nodes that still take or make floats, but for casts
};

/// Float values between nodes become float16, named NAME_half; where a node stays in float there is a Cast before and
/// after it. Inputs and outputs of the model keep their types. A node stays in float if it must (can_be_half), if the
/// type of one of its values is not known, if it has graphs inside, if one of its constants is beyond the range of
/// float16, or if one with a single element (an epsilon) would become 0 or subnormal. `shapes`: of this model.
[[nodiscard]] HalfPrecision halve_precision(const Model& model, const ValueShapes& shapes);

}  // namespace berth::models
