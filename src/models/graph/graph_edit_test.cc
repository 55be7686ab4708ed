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

TEST(RemoveDead, KeepsInputsAndTheirDefaults) {
  Graph graph = chain();
  graph.inputs.push_back({.name = "unused"});
  graph.sparse.push_back("sparse");
  graph.values.push_back({.name = "sparse"});
  remove_dead(graph);
  EXPECT_EQ(graph.initializers.size(), 1U);
  EXPECT_EQ(graph.inputs.size(), 2U);
  EXPECT_EQ(graph.values.size(), 2U);
}

TEST(ReplaceUses, KeepsOutputsAndMakers) {
  Graph graph = chain();
  EXPECT_TRUE(replace_uses(graph, "a", "x"));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("a"));
  EXPECT_THAT(graph.nodes[2].inputs, ElementsAre("x"));
  EXPECT_TRUE(replace_uses(graph, "y", "x"));
  EXPECT_EQ(graph.outputs[0].name, "y");
}

TEST(ReplaceUses, ReachesIntoGraphsInside) {
  Graph graph = chain();
  const Graph deep{.nodes = {node("Abs", {"a"}, {"r"})}, .outputs = {{.name = "r"}, {.name = "a"}}};
  Graph inside{.nodes = {if_node("x", deep, {"s"})}, .outputs = {{.name = "s"}}};
  graph.nodes.push_back(if_node("x", inside, {"z"}));
  const GraphPtr before = graphs_in(graph.nodes.back()).at(0);
  EXPECT_TRUE(replace_uses(graph, "a", "b"));
  const GraphPtr changed = graphs_in(graphs_in(graph.nodes.back()).at(0)->nodes[0]).at(0);
  EXPECT_THAT(changed->nodes[0].inputs, ElementsAre("b"));
  EXPECT_EQ(changed->outputs[1].name, "b");
  EXPECT_EQ(graphs_in(before->nodes[0]).at(0)->nodes[0].inputs[0], "a") << "graphs inside do not change";
}

TEST(ReplaceUses, LeavesInnerValuesOfThatName) {
  Graph graph = chain();
  const Graph inside{.nodes = {node("Abs", {"a"}, {"r"}), node("Abs", {"r"}, {"a"}), node("Neg", {"a"}, {"s"})},
                     .outputs = {{.name = "s"}}};
  graph.nodes.push_back(if_node("x", inside, {"z"}));
  EXPECT_TRUE(replace_uses(graph, "a", "x"));
  const GraphPtr changed = graphs_in(graph.nodes.back()).at(0);
  EXPECT_THAT(changed->nodes[0].inputs, ElementsAre("x"));
  EXPECT_THAT(changed->nodes[2].inputs, ElementsAre("a")) << "the one inside";
}

TEST(ReplaceUses, RefusesANameThatHasAnotherMeaningInside) {
  Graph graph = chain();
  const Graph inside{.nodes = {node("Abs", {"a"}, {"t"}), node("Neg", {"t"}, {"s"})}, .outputs = {{.name = "s"}}};
  graph.nodes.push_back(if_node("x", inside, {"z"}));
  EXPECT_FALSE(replace_uses(graph, "a", "t"));
  EXPECT_THAT(graph.nodes[2].inputs, ElementsAre("a"));
  EXPECT_TRUE(replace_uses(graph, "x", "t")) << "which the graph inside does not take";
}

TEST(ValueNames, AreFreeAlsoInGraphsInside) {
  Graph graph = chain();
  graph.nodes.push_back(if_node("x", {.nodes = {node("Abs", {"a"}, {"r"})}, .outputs = {{.name = "r"}}}, {"z"}));
  ValueNames names(graph);
  EXPECT_EQ(names.make("r"), "r_1");
  EXPECT_EQ(names.make("r"), "r_2");
  EXPECT_EQ(names.make("new"), "new");
  EXPECT_EQ(names.make("new"), "new_1");
  EXPECT_EQ(names.make(""), "_1");
}

TEST(CheckNames, NamesTheValue) {
  EXPECT_EQ(fault(chain()), "");
  Graph graph = chain();
  graph.nodes[0].outputs[0] = "x";
  EXPECT_EQ(fault(graph), "value \"x\" is made twice: the second time by a node \"Relu\"");
  graph = chain();
  graph.outputs[0].name = "nowhere";
  EXPECT_EQ(fault(graph), "output \"nowhere\" is made nowhere");
  graph = chain();
  graph.inputs.push_back({.name = "unused"});
  EXPECT_EQ(fault(graph), "") << "an initializer as default";
  graph.sparse.push_back("unused");
  EXPECT_EQ(fault(graph), "two initializers are named \"unused\"");
  graph = chain();
  graph.nodes[1].name = "n";
  graph.nodes[1].outputs.push_back("unused");
  EXPECT_EQ(fault(graph), "value \"unused\" is made twice: the second time by node \"n\" (\"Exp\")");
}

TEST(CheckNames, LooksIntoGraphsInside) {
  Graph graph = chain();
  graph.nodes.push_back(
      if_node("x", {.nodes = {node("Abs", {"later"}, {"r"})}, .outputs = {{.name = "r"}}}, {"later"}));
  EXPECT_EQ(fault(graph), "in a graph of a node \"If\": value \"later\" is taken by a node \"Abs\" and made nowhere");
}

}  // namespace
}  // namespace berth::models
