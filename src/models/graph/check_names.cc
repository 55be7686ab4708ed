#include <fmt/format.h>

#include <algorithm>

#include "base/core/text.h"
#include "models/graph/graph_edit.h"

namespace berth::models {
namespace {

using KnownNames = std::set<std::string, std::less<>>;

std::string node_text(const Node& node) {
  if (node.name.empty()) return fmt::format("a node {}", in_quotes(node.op));
  return fmt::format("node {} ({})", in_quotes(node.name), in_quotes(node.op));
}

/// The names of a graph up to one of its nodes, and of the graphs around it.
struct NameScope {
  const NameScope* around = nullptr;
  KnownNames names = {};

  [[nodiscard]] bool contains(std::string_view name) const {
    for (const NameScope* scope = this; scope != nullptr; scope = scope->around) {
      if (scope->names.contains(name)) return true;
    }
    return false;
  }
};

Result<void> add_made(NameScope& scope, const std::string& name, std::string_view by) {
  if (name.empty()) return invalid(fmt::format("{} has no name", by));
  if (scope.names.insert(name).second) return {};
  return invalid(fmt::format("value {} is made twice: the second time by {}", in_quotes(name), by));
}

/// What a graph has before its first node.
Result<void> add_given(NameScope& scope, const Graph& graph) {
  for (const ValueInfo& input : graph.inputs) {
    if (Result<void> added = add_made(scope, input.name, "an input"); !added) return added;
  }
  for (const auto& [name, constant] : graph.initializers) {
    if (name.empty()) return invalid("an initializer has no name");
    scope.names.insert(name);  // an input of that name has it as default
  }
  for (const std::string& name : graph.sparse) {
    if (graph.initializers.contains(name))
      return invalid(fmt::format("two initializers are named {}", in_quotes(name)));
    scope.names.insert(name);
  }
  return {};
}

std::string not_made(const Graph& graph, std::string_view name, std::string_view taker) {
  const bool is_later = std::ranges::any_of(
      graph.nodes, [&](const Node& node) { return std::ranges::find(node.outputs, name) != node.outputs.end(); });
  return fmt::format("value {} is taken by {} and {}", in_quotes(name), taker,
                     is_later ? "made only after it" : "made nowhere");
}

Result<void> check_scope(const Graph& graph, const NameScope* around) {
  NameScope scope{.around = around};
  if (Result<void> given = add_given(scope, graph); !given) return given;
  for (const Node& node : graph.nodes) {
    for (const std::string& name : node.inputs) {
      if (!name.empty() && !scope.contains(name)) return invalid(not_made(graph, name, node_text(node)));
    }
    for (const GraphPtr& inner : graphs_in(node)) {
      if (Result<void> checked = check_scope(*inner, &scope); !checked) {
        return invalid(fmt::format("in a graph of {}: {}", node_text(node), checked.error().message));
      }
    }
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      if (Result<void> added = add_made(scope, name, node_text(node)); !added) return added;
    }
  }
  for (const ValueInfo& output : graph.outputs) {
    if (output.name.empty()) return invalid("an output has no name");
    if (!scope.contains(output.name)) return invalid(fmt::format("output {} is made nowhere", in_quotes(output.name)));
  }
  return {};
}

}  // namespace

Result<void> check_names(const Graph& graph) { return check_scope(graph, nullptr); }

}  // namespace berth::models
