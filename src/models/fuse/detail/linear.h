/// Nodes that multiply by constant weights, and their weights by channel.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/fuse/detail/affine.h"
#include "models/fuse/detail/sweep.h"
#include "models/graph/constant.h"
#include "models/graph/graph.h"

namespace berth::models {

/// Conv, ConvTranspose, Gemm or MatMul with constant weights: [outer, inner, kernel...], where either of the first two
/// dimensions is of the outputs; matrices have a kernel of 1. The inner one counts within a group of outer ones.
struct Linear {
  Channels outputs = {};
  const Constant* weights = nullptr;
  std::vector<double> numbers = {};  ///< of the weights
  std::size_t inner_count = 1;
  std::size_t kernel_count = 1;
  std::size_t group_outer_count = 1;  ///< outer channels in a group
  std::size_t input_count = 0;
  bool is_output_outer = true;

  /// Of one of the numbers.
  [[nodiscard]] std::size_t output_channel(std::size_t i) const { return is_output_outer ? outer(i) : inner(i); }
  [[nodiscard]] std::size_t input_channel(std::size_t i) const { return is_output_outer ? inner(i) : outer(i); }

 private:
  [[nodiscard]] std::size_t outer(std::size_t i) const { return i / (inner_count * kernel_count); }
  [[nodiscard]] std::size_t inner(std::size_t i) const {
    return outer(i) / group_outer_count * inner_count + i / kernel_count % inner_count;
  }
};

/// Nothing: another node, or its weights are not constant floats of the shape that the operator asks for.
[[nodiscard]] std::optional<Linear> linear_of(const Sweep& sweep, const Node& node);

/// What the node adds per output channel: zeros where it has no such input. Nothing: not constant, or not the same
/// within a channel; MatMul has none.
[[nodiscard]] std::optional<std::vector<double>> bias_of(const Sweep& sweep, const Node& node, const Linear& linear);

/// Puts other weights and another bias into a copy of the node; no bias where it has none and it would be zero. A
/// MatMul of matrices that needs a bias becomes Gemm. Nothing: one of the numbers is not finite in the type of the
/// weights, or the node cannot have a bias and needs one.
[[nodiscard]] std::optional<Node> with_weights(Sweep& sweep, const Node& node, const Linear& linear,
                                               const std::vector<double>& numbers, const std::vector<double>& bias);

}  // namespace berth::models
