/// What a model computes and holds for one row, counted from its graph.
#pragma once

#include <cstdint>
#include <optional>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models {

/// Absent: not known, because of a graph inside a node (If, Loop, Scan), a function of the model's own, or a shape that
/// is needed and cannot be inferred.
struct ModelCount {
  /// Two for each multiply-add; those on padding count, those of a bias do not.
  std::optional<std::int64_t> flops = {};
  /// Of all outputs of nodes but Constant, whether or not they live at the same time.
  std::optional<std::int64_t> activation_bytes = {};
  /// Elements of initialisers and of nodes Constant that are floats or quantised numbers.
  std::optional<std::int64_t> parameters = {};
  std::optional<std::int64_t> weight_bytes = {};

  friend bool operator==(const ModelCount&, const ModelCount&) = default;
};

/// Operators that multiply: Conv, Gemm and MatMul (elements of the output times the inner length), ConvTranspose
/// (elements of the input times the outputs that each reaches), and their forms with integers; all others count 0
/// operations. Quantised: integers of at most 8 bits, and wider ones that an operator with a scale or a zero point
/// takes. `shapes`: of this model, as it is. O(nodes).
[[nodiscard]] ModelCount count_model(const Model& model, const ValueShapes& shapes);

}  // namespace berth::models
