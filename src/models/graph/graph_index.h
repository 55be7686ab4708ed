/// Who makes and who takes each value of a graph.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/graph.h"

namespace berth::models {

/// Node `node` takes the value as its input `input`. From inside a graph of one of its attributes: `input` is nothing.
struct ValueUse {
  std::size_t node;
  std::optional<std::size_t> input;

  friend auto operator<=>(const ValueUse&, const ValueUse&) = default;
};

/// Of a graph at one time: a change of the graph makes it out of date. O(size of the graph) to build.
class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  /// The index of the node that makes the value; nothing: an input, an initialiser, or unknown.
  [[nodiscard]] std::optional<std::size_t> maker(std::string_view value) const;
  /// In the order of the nodes and their inputs.
  [[nodiscard]] const std::vector<ValueUse>& uses(std::string_view value) const;
  [[nodiscard]] bool is_output(std::string_view value) const;
  /// The only use, if there is one alone, it is no use from inside a graph, and the value is no output of the graph.
  [[nodiscard]] std::optional<ValueUse> only_use(std::string_view value) const;

 private:
  std::map<std::string, std::size_t, std::less<>> makers_;
  std::map<std::string, std::vector<ValueUse>, std::less<>> uses_;
  std::set<std::string, std::less<>> outputs_;
  std::vector<ValueUse> none_;
};

/// The constant that is input `index` of the node: an initialiser of the graph that is no input of it, or the output of
/// a node Constant with any value but a sparse one. Nothing: no such input, or it is not constant.
[[nodiscard]] std::optional<ConstantPtr> constant_input(const Graph& graph, const GraphIndex& index, const Node& node,
                                                        std::size_t input);

/// The names of values that the graph takes from graphs around it, also from inside the graphs of its nodes. Requires:
/// its nodes are sorted.
[[nodiscard]] std::set<std::string, std::less<>> captured_values(const Graph& graph);

}  // namespace berth::models
