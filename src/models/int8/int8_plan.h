/// Which nodes of a model are computed with integers of 8 bits, and whose values need a range for that.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models {

/// A value between nodes that is rounded to integers and back.
struct QuantizedValue {
  std::string source;       ///< the value that QuantizeLinear takes: itself, or what an absorbed Relu or Clip takes
  std::string range_value;  ///< the value whose range it has: itself, or what a node that only moves values takes
  bool replaces = false;  ///< all that take it take what is left after rounding; else nodes in float take it unrounded

  friend bool operator==(const QuantizedValue&, const QuantizedValue&) = default;
};

/// Nodes by index in the graph, which the plan belongs to.
struct Int8Plan {
  std::set<std::size_t> heavy = {};  ///< Conv, Gemm and MatMul with constant weights, which become integers
  std::set<std::size_t> carried =
      {};  ///< between them, with rounded inputs and output: Add, MaxPool, Reshape and others
  std::set<std::size_t> absorbed = {};  ///< Relu and Clip that the rounding does: left out
  std::map<std::string, QuantizedValue, std::less<>> values = {};
  std::map<std::string, std::string, std::less<>> left = {};  ///< Conv, Gemm, ... in float: output of the node, reason

  /// The values whose range is needed, each once.
  [[nodiscard]] std::vector<std::string> range_values() const;

  friend bool operator==(const Int8Plan&, const Int8Plan&) = default;
};

/// Nodes are named by their first output. Those in `float_nodes` stay as they are. A node is carried where an engine
/// computes it with integers (seen in ONNX Runtime 1.32's optimised graphs) and a heavy node needs its output; so no
/// pair of QuantizeLinear and DequantizeLinear is added that does not feed a heavy node or end one. The output of a
/// Conv is always rounded, that of Gemm and MatMul where it is needed: engines have kernels that give float. O(size of
/// the graph).
[[nodiscard]] Int8Plan int8_plan(const Graph& graph, const ValueShapes& shapes,
                                 const std::set<std::string, std::less<>>& float_nodes = {});

/// The first inputs of the node that are activations: of a carried node the ones that are rounded.
[[nodiscard]] std::size_t activation_count(const Node& node);

}  // namespace berth::models
