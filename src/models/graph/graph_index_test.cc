#include "models/graph/graph_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::models {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Node node_of(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {.op = std::move(op), .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

/// y = (x + a) + w, and a node If that takes `a` inside.
Graph two_sums() {
  const auto inside = std::make_shared<const Graph>(
      Graph{.nodes = {node_of("Neg", {"a"}, {"r"}), node_of("Abs", {"r"}, {"s"})}, .outputs = {{.name = "s"}}});
  Node branch = node_of("If", {"x"}, {"z"});
  branch.attributes.emplace("then_branch", inside);
  return {.nodes = {node_of("Add", {"x", ""}, {"a"}), node_of("Add", {"a", "w"}, {"b", ""}), branch,
                    node_of("Add", {"b", "c"}, {"y"})},
          .initializers = {{"w", float_scalar(2)}},
          .inputs = {{.name = "x"}, {.name = "c"}},
          .outputs = {{.name = "y"}, {.name = "z"}}};
}

TEST(GraphIndex, KnowsMakersAndUses) {
  const GraphIndex index(two_sums());
  EXPECT_EQ(index.maker("b"), 1U);
  EXPECT_EQ(index.maker("x"), std::nullopt);
  EXPECT_EQ(index.maker(""), std::nullopt);
  EXPECT_THAT(index.uses("x"), ElementsAre(ValueUse{0, 0}, ValueUse{2, 0}));
  EXPECT_THAT(index.uses("a"), ElementsAre(ValueUse{1, 0}, ValueUse{2, std::nullopt}));
  EXPECT_THAT(index.uses("r"), IsEmpty()) << "a value inside";
  EXPECT_THAT(index.uses(""), IsEmpty());
  EXPECT_TRUE(index.is_output("y"));
  EXPECT_FALSE(index.is_output("b"));
}

TEST(GraphIndex, KnowsTheOnlyUse) {
  const GraphIndex index(two_sums());
  EXPECT_EQ(index.only_use("b"), (ValueUse{3, 0}));
  EXPECT_EQ(index.only_use("a"), std::nullopt);
  EXPECT_EQ(index.only_use("y"), std::nullopt);
  Graph graph = two_sums();
  graph.nodes.push_back(node_of("Neg", {"y"}, {"n"}));
  EXPECT_EQ(GraphIndex(graph).only_use("y"), std::nullopt) << "an output as well";
}

TEST(ConstantInput, FindsInitializersAndConstants) {
  Graph graph = two_sums();
  const auto found = [&](const Node& node, std::size_t input) {
    return constant_input(graph, GraphIndex(graph), node, input);
  };
  EXPECT_EQ(*found(graph.nodes[1], 1).value(), *float_scalar(2));
  EXPECT_FALSE(found(graph.nodes[1], 0));
  EXPECT_FALSE(found(graph.nodes[0], 1)) << "left out";
  EXPECT_FALSE(found(graph.nodes[0], 2));
  graph.inputs.push_back({.name = "w"});
  EXPECT_FALSE(found(graph.nodes[1], 1)) << "only a default";
}

TEST(ConstantInput, ReadsConstantsOfEachKind) {
  const auto value = [](std::string name, AttributeValue attribute) {
    Node constant = node_of("Constant", {}, {"k"});
    constant.attributes.emplace(std::move(name), std::move(attribute));
    const Graph graph{.nodes = {constant, node_of("Neg", {"k"}, {"y"})}, .outputs = {{.name = "y"}}};
    return constant_input(graph, GraphIndex(graph), graph.nodes[1], 0);
  };
  EXPECT_EQ(*value("value", floats({1}, {3})).value(), *floats({1}, {3}));
  EXPECT_EQ(*value("value_float", 3.0F).value(), *float_scalar(3));
  EXPECT_EQ(*value("value_int", std::int64_t{3}).value(), *int64s({}, {3}));
  EXPECT_EQ(*value("value_ints", std::vector<std::int64_t>{3, 4}).value(), *int64s({2}, {3, 4}));
  EXPECT_EQ(*value("value_floats", std::vector<float>{3, 4}).value(), *floats({2}, {3, 4}));
  EXPECT_THAT(value("value_string", std::string("a")).value()->texts, ElementsAre("a"));
  EXPECT_THAT(value("value_strings", std::vector<std::string>{"a", "b"}).value()->dims, ElementsAre(2));
  EXPECT_FALSE(value("sparse_value", OpaqueAttribute{}));
}

TEST(CapturedValues, AreThoseOfGraphsAround) {
  const Graph inner{.nodes = {node_of("Neg", {"outer"}, {"r"}), node_of("Abs", {"r"}, {"s"})},
                    .outputs = {{.name = "s"}, {.name = "outer2"}}};
  Graph middle = two_sums();
  middle.nodes[0].attributes.emplace("body", std::make_shared<const Graph>(inner));
  EXPECT_THAT(captured_values(middle), ElementsAre("outer", "outer2"));
}

}  // namespace
}  // namespace berth::models
