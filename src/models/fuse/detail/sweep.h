/// Rewrites a graph node by node, in one go over its nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"
#include "models/graph/pass.h"

namespace berth::models {

/// Of graphs inside nodes of graphs: deeper ones stay as they are.
inline constexpr int kGraphDepthMax = 16;

/// One of a model's graphs.
struct GraphScope {
  Graph& graph;
  ValueNames& names;          ///< of the whole model
  const ValueShapes& shapes;  ///< of values of this graph; empty for graphs inside nodes, of which nothing is known
  std::int64_t opset;         ///< version of the standard operators
};

/// A graph that is changed while one index of it is in use. What an edit makes out of date in the index is set apart:
/// nodes next to an edit are not free any more, and edits may only rely on nodes that are free. What was left is done
/// by the next sweep.
class Sweep {
 public:
  explicit Sweep(const GraphScope& scope);

  [[nodiscard]] std::size_t node_count() const { return scope_.graph.nodes.size(); }
  [[nodiscard]] const Node& node(std::size_t index) const { return scope_.graph.nodes[index]; }
  [[nodiscard]] const Graph& graph() const { return scope_.graph; }
  [[nodiscard]] const GraphIndex& index() const { return index_; }
  [[nodiscard]] std::int64_t opset() const { return scope_.opset; }
  [[nodiscard]] bool is_free(std::size_t node) const { return !touched_[node]; }

  /// The free node that makes the value.
  [[nodiscard]] std::optional<std::size_t> producer(std::string_view value) const;
  /// The same, if the value is used once and is no output of the graph.
  [[nodiscard]] std::optional<std::size_t> sole_producer(std::string_view value) const;
  /// Whether nothing uses the value, or its name is empty.
  [[nodiscard]] bool is_unused(std::string_view value) const;
  /// The constant that is the node's input (GraphIndex), or null.
  [[nodiscard]] const Constant* constant(const Node& node, std::size_t input) const;
  /// -1: any size. Nothing: the number of dimensions is not known.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> dims(std::string_view value) const;
  [[nodiscard]] ElementType type(std::string_view value) const;

  /// Puts `replacement` in the place of node `node`.
  void replace(std::size_t node, Node replacement);
  void erase(std::size_t node);
  /// Erases the node, whose first output is the same as the value `input`: what took the output takes that instead.
  /// False, and nothing is changed, where an output of the graph would lose its name.
  bool bypass(std::size_t node, std::string_view input);
  /// A new initialiser, named after `wanted`.
  [[nodiscard]] std::string add_constant(std::string_view wanted, ConstantPtr constant);
  /// The name of an initialiser with new contents: `name` itself if its only use may change, else a new one.
  [[nodiscard]] std::string change_constant(const std::string& name, ConstantPtr constant);
  /// An initialiser of exactly this name, which a node made that is gone now.
  void set_constant(const std::string& name, ConstantPtr constant);

  /// Takes the erased nodes out, and what only they used. Nothing may be done with the sweep after it.
  void finish();

 private:
  void touch_around(const Node& node);

  GraphScope scope_;
  GraphIndex index_;
  std::vector<bool> touched_;
  std::vector<bool> erased_;
};

/// Tries to change something at a free node: whether it did.
using SweepStep = bool (*)(Sweep& sweep, std::size_t node);

/// Does the step at each node, until it changes nothing, in the model's graph and those inside its nodes. Whether
/// anything changed.
[[nodiscard]] bool sweep_model(Model& model, const ValueShapes& shapes, SweepStep step);

/// Does something with each of the model's graphs, inner ones first: whether anything changed.
using GraphStep = bool (*)(const GraphScope& scope);
[[nodiscard]] bool each_graph(Model& model, const ValueShapes& shapes, GraphStep step);

}  // namespace berth::models
