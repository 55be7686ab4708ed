/// Nodes that most of the time goes into, as products of an activation with constant weights.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/core/result.h"
#include "models/graph/constant.h"
#include "models/graph/graph.h"
#include "models/graph/graph_index.h"

namespace berth::models {

/// A Conv, Gemm or MatMul of input 0 with weights in input 1, and a bias in input 2 if there is one.
struct HeavyNode {
  ConstantPtr weights;
  std::optional<std::size_t> channel_axis;  ///< of the weights; nothing: one scale for all
  std::size_t channel_count;                ///< 1 without an axis
  std::optional<std::vector<float>> bias;   ///< one per channel, times Gemm's beta
  float weight_factor;                      ///< Gemm's alpha
};

/// Whether the node is of a kind that could be computed with integers: else it is not worth a word in a report.
[[nodiscard]] bool is_heavy_kind(const Node& node);

/// The error is the reason why the node is left in float.
[[nodiscard]] Result<HeavyNode> heavy_node(const Graph& graph, const GraphIndex& index, const Node& node);

}  // namespace berth::models
