#include "models/int8/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"
#include "models/int8/testing/small_graphs.h"

namespace berth::models {
namespace {

using ::berth::testing::float_shapes;
using ::berth::testing::int8_model;
using ::berth::testing::int8_node;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Int8Plan whole_plan(const Model& model) { return int8_plan(model.graph, float_shapes(model.graph)); }

/// All ranges are from -51 to 204: steps of 1, zero at 51.
Model quantized_by_hand(const Model& model, const Int8Settings& settings = {}) {
  const Int8Plan plan = whole_plan(model);
  RangesByValue ranges;
  for (const std::string& value : plan.range_values()) ranges[value] = {.min = -51, .max = 204};
  Result<Model> made = quantize(model, plan, ranges, settings);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_TRUE(check_names(made->graph)) << check_names(made->graph).error().message;
  return std::move(*made);
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& each : graph.nodes) ops.push_back(each.op);
  return ops;
}

const Node& maker_of(const Graph& graph, const std::string& value) {
  return graph.nodes[*GraphIndex(graph).maker(value)];
}

TEST(Quantize, WritesIntegersScalesAndZeroPoints) {
  const Model model = int8_model({int8_node("Gemm", {"x", "w", "b"}, "y")});
  const Graph graph = quantized_by_hand(model).graph;
  EXPECT_THAT(ops_of(graph),
              ElementsAre("QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Gemm"));
  const Node& gemm = graph.nodes.back();
  const Node& input = maker_of(graph, gemm.inputs[0]);
  EXPECT_EQ(to_floats(*graph.initializers.at(input.inputs[1])), std::vector<float>{1});
  EXPECT_EQ(*graph.initializers.at(input.inputs[2]), *uint8s({}, {51}));
  const Node& weights = maker_of(graph, gemm.inputs[1]);
  EXPECT_EQ(*graph.initializers.at(weights.inputs[0]), *int8s({2, 2}, {127, 1, -1, 127}));
  EXPECT_EQ(to_floats(*graph.initializers.at(weights.inputs[1])), (std::vector<float>{1, 1}));
  EXPECT_EQ(*graph.initializers.at(weights.inputs[2]), *int8s({2}, {0, 0}));
  EXPECT_EQ(attribute_or(weights, "axis", std::int64_t{-1}), 1);
  const Node& bias = maker_of(graph, gemm.inputs[2]);
  EXPECT_EQ(*graph.initializers.at(bias.inputs[0]), *int32s({2}, {1, -2}));
  EXPECT_EQ(*graph.initializers.at(bias.inputs[2]), *int32s({2}, {0, 0}));
  EXPECT_FALSE(graph.initializers.contains("w"));
}

TEST(Quantize, SignedActivationsAndSevenBits) {
  const Model model = int8_model({int8_node("MatMul", {"x", "w"}, "y")});
  const Graph graph = quantized_by_hand(model, {.activations = {.is_signed = true}, .weight_bits = 7}).graph;
  const Node& product = graph.nodes.back();
  EXPECT_EQ(*graph.initializers.at(maker_of(graph, product.inputs[0]).inputs[2]), *int8s({}, {-77}));
  EXPECT_EQ(*graph.initializers.at(maker_of(graph, product.inputs[1]).inputs[0]), *int8s({2, 2}, {63, 0, 0, 63}));
}

TEST(Quantize, KeepsTheNamesOfValuesAndOutputs) {
  const Model model = int8_model(
      {int8_node("Conv", {"x", "k"}, "c"), int8_node("Relu", {"c"}, "r"), int8_node("Conv", {"r", "k"}, "y")});
  const Graph graph = quantized_by_hand(model).graph;
  EXPECT_EQ(maker_of(graph, "r").op, "DequantizeLinear");
  EXPECT_EQ(maker_of(graph, "y").op, "DequantizeLinear");
  EXPECT_EQ(maker_of(graph, maker_of(graph, maker_of(graph, "r").inputs[0]).inputs[0]).op, "Conv");
  for (const Node& each : graph.nodes) EXPECT_NE(each.op, "Relu");
}

TEST(Quantize, FloatNodesTakeTheValueBeforeItIsRounded) {
  Model model = int8_model({int8_node("MatMul", {"x", "w"}, "p"), int8_node("Add", {"p", "x"}, "y")});
  const Graph graph = quantized_by_hand(model).graph;
  EXPECT_EQ(graph.nodes.back().inputs[1], "x");
}

TEST(Quantize, SharedWeightsAreWrittenOnce) {
  const Model model = int8_model({int8_node("MatMul", {"x", "w"}, "p"), int8_node("MatMul", {"p", "w"}, "y")});
  const Graph graph = quantized_by_hand(model).graph;
  const Node& last = graph.nodes.back();
  EXPECT_EQ(GraphIndex(graph).uses(last.inputs[1]).size(), 2U);
}

TEST(Quantize, FoldsAlphaAndBeta) {
  Node gemm = int8_node("Gemm", {"x", "w", "b"}, "y");
  gemm.attributes.emplace("alpha", 2.0F);
  gemm.attributes.emplace("beta", 6.0F);
  const Graph graph = quantized_by_hand(int8_model({gemm})).graph;
  const Node& after = graph.nodes.back();
  EXPECT_FALSE(after.attributes.contains("alpha") || after.attributes.contains("beta"));
  EXPECT_EQ(to_floats(*graph.initializers.at(maker_of(graph, after.inputs[1]).inputs[1])), (std::vector<float>{2, 2}));
  EXPECT_EQ(*graph.initializers.at(maker_of(graph, after.inputs[2]).inputs[0]), *int32s({2}, {3, -6}));
}

TEST(Quantize, WeightsOfSeveralMatricesHaveOneScale) {
  Model model = int8_model({int8_node("MatMul", {"x", "w3"}, "y")});
  model.graph.initializers["w3"] = floats({2, 1, 2}, {127, 1, 2, -3});
  const Graph graph = quantized_by_hand(model).graph;
  const Node& weights = maker_of(graph, graph.nodes.back().inputs[1]);
  EXPECT_TRUE(graph.initializers.at(weights.inputs[1])->dims.empty());
  EXPECT_FALSE(weights.attributes.contains("axis"));
}

TEST(Quantize, TheSameArgumentsGiveTheSameModel) {
  const Model model = int8_model({int8_node("Gemm", {"x", "w", "b"}, "g"), int8_node("Relu", {"g"}, "r"),
                                  int8_node("Gemm", {"r", "w", "b"}, "y")});
  const Graph first = quantized_by_hand(model).graph;
  const Graph second = quantized_by_hand(model).graph;
  ASSERT_EQ(first.nodes.size(), second.nodes.size());
  for (std::size_t i = 0; i < first.nodes.size(); ++i) {
    EXPECT_EQ(first.nodes[i].inputs, second.nodes[i].inputs);
    EXPECT_EQ(first.nodes[i].outputs, second.nodes[i].outputs);
  }
}

TEST(Quantize, RefusesOldOperatorsAndModelsWithoutHeavyNodes) {
  Model model = int8_model({int8_node("MatMul", {"x", "w"}, "y")});
  model.opsets[""] = 12;
  const Result<Model> old = quantize(model, whole_plan(model), {{"x", Range{}}}, {});
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().message, HasSubstr("13"));
  const Model light = int8_model({int8_node("Relu", {"x"}, "y")});
  const Result<Model> nothing = quantize(light, whole_plan(light), {}, {});
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no Conv"));
}

}  // namespace
}  // namespace berth::models
