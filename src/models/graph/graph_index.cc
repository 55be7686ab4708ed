#include "models/graph/graph_index.h"

#include <utility>

namespace berth::models {
namespace {

using Names = std::set<std::string, std::less<>>;

/// The value of a node Constant. Nothing: its value is sparse, or of a kind that came later.
std::optional<ConstantPtr> value_of_constant(const Node& node) {
  if (node.attributes.size() != 1) return std::nullopt;
  const auto& [name, value] = *node.attributes.begin();
  if (!name.starts_with("value")) return std::nullopt;
  if (const auto* const tensor = std::get_if<ConstantPtr>(&value)) return *tensor;
  if (const auto* const number = std::get_if<float>(&value)) return float_scalar(*number);
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return int64s({}, {*number});
  if (const auto* const text = std::get_if<std::string>(&value)) {
    return share({.type = ElementType::kString, .texts = {*text}});
  }
  if (const auto* const several = std::get_if<std::vector<float>>(&value)) {
    return floats({static_cast<std::int64_t>(several->size())}, *several);
  }
  if (const auto* const several = std::get_if<std::vector<std::int64_t>>(&value)) {
    return int64s({static_cast<std::int64_t>(several->size())}, *several);
  }
  if (const auto* const texts = std::get_if<std::vector<std::string>>(&value)) {
    return share({.type = ElementType::kString, .dims = {static_cast<std::int64_t>(texts->size())}, .texts = *texts});
  }
  return std::nullopt;
}

bool is_input(const Graph& graph, std::string_view name) {
  for (const ValueInfo& input : graph.inputs) {
    if (input.name == name) return true;
  }
  return false;
}

}  // namespace

GraphIndex::GraphIndex(const Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k].empty()) uses_[node.inputs[k]].push_back({.node = i, .input = k});
    }
    Names captured;
    for (const GraphPtr& inner : graphs_in(node)) captured.merge(captured_values(*inner));
    for (const std::string& name : captured) uses_[name].push_back({.node = i, .input = std::nullopt});
    for (const std::string& name : node.outputs) {
      if (!name.empty()) makers_.emplace(name, i);
    }
  }
  for (const ValueInfo& output : graph.outputs) outputs_.insert(output.name);
}

std::optional<std::size_t> GraphIndex::maker(std::string_view value) const {
  const auto found = makers_.find(value);
  if (found == makers_.end()) return std::nullopt;
  return found->second;
}

const std::vector<ValueUse>& GraphIndex::uses(std::string_view value) const {
  const auto found = uses_.find(value);
  return found == uses_.end() ? none_ : found->second;
}

bool GraphIndex::is_output(std::string_view value) const { return outputs_.contains(value); }

std::optional<ValueUse> GraphIndex::only_use(std::string_view value) const {
  const std::vector<ValueUse>& all = uses(value);
  if (all.size() != 1 || !all.front().input || is_output(value)) return std::nullopt;
  return all.front();
}

std::optional<ConstantPtr> constant_input(const Graph& graph, const GraphIndex& index, const Node& node,
                                          std::size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return std::nullopt;
  const std::string& name = node.inputs[input];
  const auto initializer = graph.initializers.find(name);
  if (initializer != graph.initializers.end()) {
    if (is_input(graph, name)) return std::nullopt;
    return initializer->second;
  }
  const std::optional<std::size_t> maker = index.maker(name);
  if (!maker || !is_op(graph.nodes[*maker], "Constant")) return std::nullopt;
  return value_of_constant(graph.nodes[*maker]);
}

Names captured_values(const Graph& graph) {
  Names inner(graph.sparse.begin(), graph.sparse.end());
  for (const ValueInfo& input : graph.inputs) inner.insert(input.name);
  for (const auto& [name, constant] : graph.initializers) inner.insert(name);
  Names captured;
  const auto take = [&](const std::string& name) {
    if (!name.empty() && !inner.contains(name)) captured.insert(name);
  };
  // A name that is made later in the graph is, where it is taken before, one of a graph around it.
  for (const Node& node : graph.nodes) {
    for (const std::string& name : node.inputs) take(name);
    for (const GraphPtr& graph_inside : graphs_in(node)) {
      for (const std::string& name : captured_values(*graph_inside)) take(name);
    }
    for (const std::string& name : node.outputs) inner.insert(name);
  }
  for (const ValueInfo& output : graph.outputs) take(output.name);
  return captured;
}

}  // namespace berth::models
