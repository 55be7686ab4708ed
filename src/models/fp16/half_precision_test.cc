#include "models/fp16/half_precision.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Names;
using testing::SmallModel;

Names ops_of(const Graph& graph) {
  Names ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op);
  return ops;
}

TEST(HalvePrecision, CastsAtTheEnds) {
  SmallModel small;
  small.input("x", {-1, 2}).shape("a", {-1, 2}).shape("y", {-1, 2}).weight("w", floats({2, 2}, {1, 2, 3, 4}));
  small.node("MatMul", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  const HalfPrecision halved = halve_precision(small.model, small.shapes);
  const Graph& graph = halved.model.graph;
  EXPECT_TRUE(check_names(graph));
  EXPECT_EQ(ops_of(graph), (Names{"Cast", "MatMul", "Relu", "Cast"}));
  EXPECT_EQ(graph.nodes[1].inputs, (Names{"x_half", "w_half"}));
  EXPECT_EQ(graph.nodes[3].outputs, Names{"y"});
  EXPECT_EQ(graph.initializers.size(), 1U);
  EXPECT_EQ(graph.initializers.at("w_half")->type, ElementType::kFloat16);
  EXPECT_EQ(halved.half_count, 2U);
  EXPECT_EQ(halved.float_count, 0U);
}

TEST(HalvePrecision, CastsAroundWhatStaysFloat) {
  SmallModel small;
  for (const char* value : {"a", "b", "c", "y"}) small.shape(value, {-1, 2});
  small.input("x", {-1, 2}).weight("two", floats({}, {2}));
  small.node("Relu", {"x"}, {"a"})
      .node("Pow", {"a", "two"}, {"b"})
      .node("Relu", {"b"}, {"c"})
      .node("Add", {"c", "a"}, {"y"})
      .output("y");
  const HalfPrecision halved = halve_precision(small.model, small.shapes);
  EXPECT_TRUE(check_names(halved.model.graph));
  EXPECT_EQ(ops_of(halved.model.graph), (Names{"Cast", "Relu", "Cast", "Pow", "Cast", "Relu", "Add", "Cast"}));
  EXPECT_EQ(halved.model.graph.nodes[3].inputs, (Names{"a", "two"}));
  EXPECT_EQ(halved.float_count, 1U);
}

TEST(HalvePrecision, OtherTypesAreNotTouched) {
  SmallModel small;
  small.input("i", {3}, ElementType::kInt64).weight("table", floats({4, 2}, std::vector<float>(8, 1)));
  small.shape("j", {1, 3}, ElementType::kInt64).shape("y", {1, 3, 2}).weight("axes", int64s({1}, {0}));
  small.node("Unsqueeze", {"i", "axes"}, {"j"}).node("Gather", {"table", "j"}, {"y"}).output("y");
  const HalfPrecision halved = halve_precision(small.model, small.shapes);
  EXPECT_EQ(ops_of(halved.model.graph), (Names{"Unsqueeze", "Gather", "Cast"}));
  EXPECT_EQ(halved.model.graph.nodes[1].inputs, (Names{"table_half", "j"}));
}

/// Whether x + this constant is computed in half precision.
bool adds_in_half(ConstantPtr constant) {
  SmallModel small;
  small.input("x", {2}).shape("y", {2}).weight("w", std::move(constant)).node("Add", {"x", "w"}, {"y"}).output("y");
  return halve_precision(small.model, small.shapes).half_count == 1;
}

TEST(HalvePrecision, ConstantsThatDoNotFitStayFloat) {
  EXPECT_TRUE(adds_in_half(floats({}, {1})));
  EXPECT_TRUE(adds_in_half(floats({}, {0})));
  EXPECT_TRUE(adds_in_half(floats({2}, {1e-9F, 1})));
  EXPECT_FALSE(adds_in_half(floats({}, {1e-9F})));
  EXPECT_FALSE(adds_in_half(floats({2}, {1, -70000})));
}

TEST(HalvePrecision, UnknownTypesAndInnerGraphsStayFloat) {
  SmallModel small;
  small.input("x", {2}).shape("b", {2}).shape("y", {2});
  small.node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"y"}).output("y");
  const HalfPrecision halved = halve_precision(small.model, small.shapes);
  EXPECT_EQ(ops_of(halved.model.graph), (Names{"Relu", "Relu", "Cast", "Relu", "Cast"}));
}

TEST(HalvePrecision, KnowsItsOperators) {
  EXPECT_TRUE(can_be_half("Conv"));
  EXPECT_TRUE(can_be_half("Abs"));
  EXPECT_TRUE(can_be_half("Where"));
  EXPECT_FALSE(can_be_half("Resize"));
  EXPECT_FALSE(can_be_half("Loop"));
}

}  // namespace
}  // namespace berth::models
