#include "models/graph/graph_edit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "models/graph/graph_index.h"
#include "models/graph/testing/random_graph.h"

namespace berth::models {
namespace {

Rng any_rng() { return Rng(*rc::gen::arbitrary<std::uint64_t>()); }

Graph any_graph() { return testing::random_model(any_rng(), {.step_count_max = 20}).graph; }

std::vector<std::string> first_outputs(const Graph& graph) {
  std::vector<std::string> outputs;
  for (const Node& node : graph.nodes) outputs.push_back(node.outputs.at(0));
  return outputs;
}

RC_GTEST_PROP(GraphEditProperty, SortedNodesComeAfterWhatTheyTake, ()) {
  Graph graph = any_graph();
  const std::vector<std::string> before = first_outputs(graph);
  RC_ASSERT(sort_nodes(graph));
  RC_ASSERT(first_outputs(graph) == before);  // a sorted graph stays as it is
  Rng rng = any_rng();
  for (std::size_t i = graph.nodes.size(); i > 1; --i) std::swap(graph.nodes[i - 1], graph.nodes[rng.below(i)]);
  RC_ASSERT(sort_nodes(graph));
  RC_ASSERT(check_names(graph).has_value());
  std::vector<std::string> after = first_outputs(graph);
  std::vector<std::string> wanted = before;
  std::ranges::sort(after);
  std::ranges::sort(wanted);
  RC_ASSERT(after == wanted);
}

RC_GTEST_PROP(GraphEditProperty, WhatIsLeftIsUsed, ()) {
  Graph graph = any_graph();
  remove_dead(graph);
  RC_ASSERT(check_names(graph).has_value());
  const GraphIndex index(graph);
  const auto is_used = [&](const std::string& name) { return index.is_output(name) || !index.uses(name).empty(); };
  for (const Node& node : graph.nodes) RC_ASSERT(std::ranges::any_of(node.outputs, is_used));
  for (const auto& [name, constant] : graph.initializers) RC_ASSERT(is_used(name));
  const std::vector<std::string> once = first_outputs(graph);
  remove_dead(graph);
  RC_ASSERT(first_outputs(graph) == once);
}

RC_GTEST_PROP(GraphEditProperty, ReplacedValuesAreTakenNoMore, ()) {
  Graph graph = any_graph();
  Rng rng = any_rng();
  const std::string from = graph.nodes[rng.below(graph.nodes.size())].outputs.at(0);
  const std::size_t use_count = GraphIndex(graph).uses(from).size();
  const std::size_t input_use_count = GraphIndex(graph).uses("x").size();
  RC_ASSERT(replace_uses(graph, from, "x"));
  RC_ASSERT(check_names(graph).has_value());
  RC_ASSERT(GraphIndex(graph).uses(from).empty());
  RC_ASSERT(GraphIndex(graph).uses("x").size() == input_use_count + use_count);
}

RC_GTEST_PROP(GraphEditProperty, NewNamesAreNew, ()) {
  const Graph graph = any_graph();
  ValueNames names(graph);
  std::set<std::string> made;
  for (const std::string& name : first_outputs(graph)) {
    RC_ASSERT(made.insert(names.make(name)).second);
    RC_ASSERT(made.insert(names.make("new")).second);
  }
  for (const std::string& name : first_outputs(graph)) RC_ASSERT(!made.contains(name));
}

}  // namespace
}  // namespace berth::models
