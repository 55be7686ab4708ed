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

/// Conv, ConvTranspose, Gemm or MatMul with constant weights.
struct Linear {
  Channels outputs;
  const Constant* weights = nullptr;
  std::vector<double> numbers;              ///< of the weights
  std::vector<std::size_t> output_channel;  ///< of each of the numbers
  std::vector<std::size_t> input_channel;
  std::size_t input_count = 0;
};

/// Nothing: another node, or its weights are not constant floats of the shape that the operator asks for.
[[nodiscard]] std::optional<Linear> linear_of(const Sweep& sweep, const Node& node);

/// What the node adds per output channel: zeros where it has no such input. Nothing: not constant, or not the same
/// within a channel; MatMul has none.
[[nodiscard]] std::optional<std::vector<double>> bias_of(const Sweep& sweep, const Node& node, const Linear& linear);

/// Puts other weights and another bias into a copy of the node; no bias where it has none and it would be zero. Nothing:
/// one of the numbers is not finite in the type of the weights, or the node cannot have a bias and needs one.
[[nodiscard]] std::optional<Node> with_weights(Sweep& sweep, const Node& node, const Linear& linear,
                                               const std::vector<double>& numbers, const std::vector<double>& bias);

}  // namespace berth::models
