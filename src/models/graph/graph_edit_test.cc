#include "models/graph/graph_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/graph_index.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;

Node node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {.op = std::move(op), .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

Node if_node(std::string condition, Graph inside, std::vector<std::string> outputs) {
  Node made = node("If", {std::move(condition)}, std::move(outputs));
  made.attributes.emplace("then_branch", std::make_shared<const Graph>(inside));
  made.attributes.emplace("else_branch", std::make_shared<const Graph>(std::move(inside)));
  return made;
}

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& each : graph.nodes) names.push_back(each.op);
  return names;
}

std::string fault(const Graph& graph) {
  const Result<void> checked = check_names(graph);
  return checked ? "" : checked.error().message;
}

/// x -> Relu -> a -> Neg -> y, and a dead Exp.
Graph chain() {
  return {.nodes = {node("Relu", {"x"}, {"a"}), node("Exp", {"a"}, {"dead"}), node("Neg", {"a"}, {"y"})},
          .initializers = {{"unused", float_scalar(1)}},
          .inputs = {{.name = "x"}},
          .outputs = {{.name = "y"}},
          .values = {{.name = "a"}, {.name = "dead"}}};
}

TEST(RemoveDead, RemovesNodesInitializersAndValues) {
  Graph graph = chain();
  remove_dead(graph);
  EXPECT_THAT(ops(graph), ElementsAre("Relu", "Neg"));
  EXPECT_TRUE(graph.initializers.empty());
  ASSERT_EQ(graph.values.size(), 1U);
  EXPECT_EQ(graph.values[0].name, "a");
}

TEST(RemoveDead, KeepsWhatGraphsInsideTake) {
  Graph graph = chain();
  const Graph inside{.nodes = {node("Abs", {"dead"}, {"r"})}, .outputs = {{.name = "r"}}};
  graph.nodes.push_back(if_node("x", inside, {"z"}));
  graph.outputs.push_back({.name = "z"});
  remove_dead(graph);
  EXPECT_THAT(ops(graph), ElementsAre("Relu", "Exp", "Neg", "If"));
}

TEST(SortNodes, KeepsTheOrderWhereItCan) {
  Graph graph = chain();
  std::swap(graph.nodes[0], graph.nodes[2]);
  EXPECT_EQ(fault(graph), "value \"a\" is taken by a node \"Neg\" and made only after it");
  EXPECT_TRUE(sort_nodes(graph));
  EXPECT_THAT(ops(graph), ElementsAre("Relu", "Neg", "Exp"));
  EXPECT_EQ(fault(graph), "");
}

TEST(SortNodes, FindsACircle) {
  Graph graph{.nodes = {node("Add", {"b", "b"}, {"a"}), node("Neg", {"a"}, {"b"})}};
  EXPECT_FALSE(sort_nodes(graph));
  EXPECT_THAT(ops(graph), ElementsAre("Add", "Neg"));
}

}  // namespace
}  // namespace berth::models
