#include "models/graph/graph_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "models/graph/graph_index.h"

namespace berth::models {
namespace {

using NameSet = std::set<std::string, std::less<>>;

void collect_names(const Graph& graph, NameSet& names) {
  for (const ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const ValueInfo& output : graph.outputs) names.insert(output.name);
  for (const ValueInfo& value : graph.values) names.insert(value.name);
  for (const auto& [name, constant] : graph.initializers) names.insert(name);
  names.insert(graph.sparse.begin(), graph.sparse.end());
  for (const Node& node : graph.nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const GraphPtr& inner : graphs_in(node)) collect_names(*inner, names);
  }
}

/// Whether the graph itself has a value of that name that it does not take from a graph around it.
bool makes(const Graph& graph, std::string_view name) {
  const auto is_named = [&](const ValueInfo& info) { return info.name == name; };
  if (graph.initializers.contains(name)) return true;
  if (std::ranges::any_of(graph.inputs, is_named)) return true;
  if (std::ranges::find(graph.sparse, name) != graph.sparse.end()) return true;
  return std::ranges::any_of(
      graph.nodes, [&](const Node& node) { return std::ranges::find(node.outputs, name) != node.outputs.end(); });
}

/// Whether `to` would mean another value somewhere inside the graph where it takes `from` from outside.
bool hides(const Graph& graph, std::string_view from, std::string_view to) {
  if (!captured_values(graph).contains(from)) return false;
  if (makes(graph, to)) return true;
  for (const Node& node : graph.nodes) {
    for (const GraphPtr& inner : graphs_in(node)) {
      if (hides(*inner, from, to)) return true;
    }
  }
  return false;
}

void rename_inputs(Node& node, std::string_view from, std::string_view to);

/// `graph` with `to` for `from`, which it takes from a graph around it.
GraphPtr renamed_inside(const GraphPtr& graph, std::string_view from, std::string_view to) {
  if (!captured_values(*graph).contains(from)) return graph;
  auto copy = std::make_shared<Graph>(*graph);
  const bool is_hidden_later = makes(*copy, from);
  for (Node& node : copy->nodes) {
    rename_inputs(node, from, to);
    if (is_hidden_later && std::ranges::find(node.outputs, from) != node.outputs.end()) return copy;
  }
  for (ValueInfo& output : copy->outputs) {
    if (output.name == from) output.name = to;
  }
  return copy;
}

void rename_inputs(Node& node, std::string_view from, std::string_view to) {
  for (std::string& input : node.inputs) {
    if (input == from) input = to;
  }
  for (auto& [name, value] : node.attributes) {
    if (auto* const graph = std::get_if<GraphPtr>(&value)) *graph = renamed_inside(*graph, from, to);
    if (auto* const several = std::get_if<std::vector<GraphPtr>>(&value)) {
      for (GraphPtr& graph : *several) graph = renamed_inside(graph, from, to);
    }
  }
}

/// What the node takes: its inputs, and what the graphs inside it take from this graph or those around it.
NameSet taken_by(const Node& node) {
  NameSet taken(node.inputs.begin(), node.inputs.end());
  for (const GraphPtr& inner : graphs_in(node)) taken.merge(captured_values(*inner));
  taken.erase("");
  return taken;
}

/// By node, whether it is needed for an output of the graph; adds to `used` all that such nodes take.
std::vector<bool> find_needed(const Graph& graph, NameSet& used) {
  std::map<std::string, std::size_t, std::less<>> makers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs) makers.emplace(output, i);
  }
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<std::string> open;
  const auto use = [&](const std::string& name) {
    if (used.insert(name).second) open.push_back(name);
  };
  for (const ValueInfo& output : graph.outputs) use(output.name);
  while (!open.empty()) {
    const auto maker = makers.find(open.back());
    open.pop_back();
    if (maker == makers.end() || needed[maker->second]) continue;
    needed[maker->second] = true;
    for (const std::string& name : taken_by(graph.nodes[maker->second])) use(name);
  }
  return needed;
}

}  // namespace

ValueNames::ValueNames(const Graph& graph) { collect_names(graph, taken_); }

std::string ValueNames::make(std::string_view wanted) {
  std::string name(wanted);
  for (std::size_t i = 1; name.empty() || !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

bool replace_uses(Graph& graph, std::string_view from, std::string_view to) {
  for (const Node& node : graph.nodes) {
    for (const GraphPtr& inner : graphs_in(node)) {
      if (hides(*inner, from, to)) return false;
    }
  }
  // The names may be of the graph itself, and change with it.
  const std::string from_name(from);
  const std::string to_name(to);
  for (Node& node : graph.nodes) rename_inputs(node, from_name, to_name);
  return true;
}

void remove_dead(Graph& graph) {
  NameSet used;
  const std::vector<bool> needed = find_needed(graph, used);
  for (const ValueInfo& input : graph.inputs) used.insert(input.name);
  std::vector<Node> kept;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    kept.push_back(std::move(graph.nodes[i]));
    used.insert(kept.back().outputs.begin(), kept.back().outputs.end());
  }
  graph.nodes = std::move(kept);
  std::erase_if(graph.initializers, [&](const auto& entry) { return !used.contains(entry.first); });
  used.insert(graph.sparse.begin(), graph.sparse.end());
  std::erase_if(graph.values, [&](const ValueInfo& value) { return !used.contains(value.name); });
}

bool sort_nodes(Graph& graph) {
  std::map<std::string, std::size_t, std::less<>> makers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs) {
      if (!output.empty()) makers.emplace(output, i);
    }
  }
  std::vector<std::size_t> missing_count(graph.nodes.size(), 0);
  std::vector<std::vector<std::size_t>> takers(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& name : taken_by(graph.nodes[i])) {
      const auto maker = makers.find(name);
      if (maker == makers.end()) continue;
      takers[maker->second].push_back(i);
      ++missing_count[i];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (missing_count[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::size_t taker : takers[order.back()]) {
      if (--missing_count[taker] == 0) ready.push(taker);
    }
  }
  if (order.size() != graph.nodes.size()) return false;
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(graph.nodes[i]));
  graph.nodes = std::move(sorted);
  return true;
}

}  // namespace berth::models
