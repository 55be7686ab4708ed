#include "models/fuse/duplicates.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/contents.h"
#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/sweep.h"
#include "models/graph/graph_edit.h"

namespace berth::models {
namespace {

using Names = std::set<std::string, std::less<>>;

Names names_of(const std::vector<ValueInfo>& values) {
  Names names;
  for (const ValueInfo& value : values) names.insert(value.name);
  return names;
}

bool makes_any(const Node& node, const Names& names) {
  return std::ranges::any_of(node.outputs, [&](const std::string& output) { return names.contains(output); });
}

/// Whether all uses could be moved.
bool move_uses(Graph& graph, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  bool is_moved = true;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i].empty() && !replace_uses(graph, from[i], to[i])) is_moved = false;
  }
  return is_moved;
}

/// In the order of the nodes: the inputs of later ones are then those of what was left of earlier ones.
bool merge_nodes(const GraphScope& scope) {
  Graph& graph = scope.graph;
  const Names outputs = names_of(graph.outputs);
  std::map<std::string, std::size_t> first;
  bool is_changed = false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_deterministic(node)) continue;
    const auto [found, is_new] = first.emplace(contents_of(node), i);
    if (is_new || makes_any(node, outputs)) continue;
    const std::vector<std::string> twice = node.outputs;
    const std::vector<std::string> once = graph.nodes[found->second].outputs;
    is_changed |= move_uses(graph, twice, once);
  }
  if (is_changed) remove_dead(graph);
  return is_changed;
}

/// What may be merged: not what the caller may set, and not what an output is.
bool merge_weights(const GraphScope& scope) {
  Graph& graph = scope.graph;
  Names kept = names_of(graph.inputs);
  kept.merge(names_of(graph.outputs));
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::string>> by_digest;
  for (const auto& [name, constant] : graph.initializers) {
    if (!kept.contains(name)) by_digest[{constant->bytes.size(), digest_of(*constant)}].push_back(name);
  }
  bool is_changed = false;
  for (const auto& [digest, names] : by_digest) {
    const ConstantPtr first = graph.initializers.find(names.front())->second;
    for (std::size_t i = 1; i < names.size(); ++i) {
      const ConstantPtr other = graph.initializers.find(names[i])->second;
      if (*first == *other) is_changed |= replace_uses(graph, names[i], names.front());
    }
  }
  if (is_changed) remove_dead(graph);
  return is_changed;
}

bool drop_dead_in(const GraphScope& scope) {
  Graph& graph = scope.graph;
  const std::size_t nodes = graph.nodes.size();
  const std::size_t weights = graph.initializers.size();
  const std::size_t values = graph.values.size();
  remove_dead(graph);
  return graph.nodes.size() != nodes || graph.initializers.size() != weights || graph.values.size() != values;
}

}  // namespace

Result<bool> merge_equal_nodes(Model& model, const PassContext& context) {
  return each_graph(model, context.shapes, merge_nodes);
}

Result<bool> merge_equal_weights(Model& model, const PassContext& context) {
  return each_graph(model, context.shapes, merge_weights);
}

Result<bool> drop_dead(Model& model, const PassContext& context) {
  return each_graph(model, context.shapes, drop_dead_in);
}

}  // namespace berth::models
