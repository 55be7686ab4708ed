#include "models/count/count_model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/count/one_row.h"

namespace berth::models {
namespace {

ConstantPtr weights_of(ElementType type, Dims dims) {
  const std::size_t bytes = byte_size(type, dims);
  return share({.type = type, .dims = std::move(dims), .bytes = std::string(bytes, '\0')});
}

/// A graph of one node, y = op(inputs), with the shapes of its values.
struct OneNode {
  Model model;
  ValueShapes shapes;

  OneNode(std::string op, std::vector<std::string> inputs) {
    model.graph.nodes = {{.op = std::move(op), .inputs = std::move(inputs), .outputs = {"y"}}};
  }
  OneNode& shape(const std::string& name, Dims dims, ElementType type = ElementType::kFloat) {
    shapes[name] = {.type = type, .dims = std::move(dims)};
    return *this;
  }
  OneNode& with(const std::string& attribute, std::int64_t value) {
    model.graph.nodes[0].attributes[attribute] = value;
    return *this;
  }
  [[nodiscard]] ModelCount count() const { return count_model(model, shapes); }
};

TEST(CountModel, AConvolutionCountsItsWindowForEachElement) {
  // 16 channels of 10 x 10 from 8 in two groups, by windows of 3 x 3: 1600 elements of 4 * 9 products.
  const auto count = OneNode("Conv", {"x", "w", "b"})
                         .shape("x", {1, 8, 10, 10})
                         .shape("w", {16, 4, 3, 3})
                         .shape("y", {1, 16, 10, 10})
                         .count();
  EXPECT_EQ(count.flops, 2 * 1600 * 36);
  EXPECT_EQ(count.activation_bytes, 1600 * 4);
}

TEST(CountModel, QuantisedFormsCountAlike) {
  EXPECT_EQ(OneNode("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"})
                .shape("w", {6, 2, 3})
                .shape("y", {1, 6, 5}, ElementType::kUint8)
                .count(),
            (ModelCount{.flops = 2 * 30 * 6, .activation_bytes = 30, .parameters = 0, .weight_bytes = 0}));
  EXPECT_EQ(OneNode("ConvInteger", {"x", "w"}).shape("w", {6, 2, 3}).shape("y", {1, 6, 5}).count().flops, 2 * 30 * 6);
  EXPECT_EQ(OneNode("MatMulInteger", {"x", "w"}).shape("x", {4, 5}).shape("w", {5, 6}).count().flops, 2 * 120);
  EXPECT_EQ(OneNode("QLinearMatMul", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"})
                .shape("x", {4, 5})
                .shape("w", {5, 6})
                .count()
                .flops,
            2 * 120);
}

TEST(CountModel, ATransposedConvolutionCountsWhatEachInputReaches) {
  const auto count = OneNode("ConvTranspose", {"x", "w"})
                         .shape("x", {1, 8, 5, 5})
                         .shape("w", {8, 3, 2, 2})
                         .shape("y", {1, 6, 10, 10})
                         .with("group", 2)
                         .count();
  EXPECT_EQ(count.flops, 2 * 200 * 12);
}

TEST(CountModel, AGemmCountsTransposedFactors) {
  auto node = OneNode("Gemm", {"a", "b", "c"}).shape("a", {7, 2}).shape("b", {7, 5}).shape("y", {2, 5});
  EXPECT_EQ(node.with("transA", 1).count().flops, 2 * 2 * 7 * 5);
  EXPECT_EQ(node.with("transB", 1).shape("b", {5, 7}).count().flops, 2 * 2 * 7 * 5);
}

TEST(CountModel, AProductBroadcastsItsMatrices) {
  struct Case {
    Dims left;
    Dims right;
    std::int64_t adds;
  };
  const std::vector<Case> cases = {{{3}, {3}, 3},
                                   {{2, 3}, {3}, 6},
                                   {{3}, {3, 4}, 12},
                                   {{5, 2, 3}, {3, 4}, 5 * 24},
                                   {{2, 1, 2, 3}, {6, 3, 4}, 2 * 6 * 24},
                                   {{0, 3}, {3, 4}, 0}};
  for (const Case& each : cases) {
    const auto count = OneNode("MatMul", {"a", "b"}).shape("a", each.left).shape("b", each.right).count();
    EXPECT_EQ(count.flops, 2 * each.adds);
  }
}

TEST(CountModel, OtherOperatorsAreFree) {
  const auto count = OneNode("Softmax", {"x"}).shape("y", {}, ElementType::kInt64).count();
  EXPECT_EQ(count.flops, 0);
  EXPECT_EQ(count.activation_bytes, 8);
}

TEST(CountModel, WhatIsNotKnownIsAbsent) {
  const auto open = OneNode("Conv", {"x", "w"}).shape("w", {4, 4, 3}).shape("y", {1, 4, -1}).count();
  EXPECT_EQ(open.flops, std::nullopt);
  EXPECT_EQ(open.activation_bytes, std::nullopt);
  EXPECT_EQ(open.parameters, 0);
  EXPECT_EQ(OneNode("MatMul", {"a", "b"}).shape("a", {2, 3}).count().flops, std::nullopt);
  EXPECT_EQ(OneNode("Relu", {"x"}).shape("y", {2}, ElementType::kString).count().activation_bytes, std::nullopt);
  const auto huge = OneNode("MatMul", {"a", "b"}).shape("a", {1LL << 32, 1}).shape("b", {1, 1LL << 31}).count();
  EXPECT_EQ(huge.flops, std::nullopt);
}

TEST(CountModel, GraphsInsideNodesAreNotCounted) {
  auto loop = OneNode("Loop", {"n"}).shape("y", {1});
  loop.model.graph.initializers["w"] = floats({2}, {1, 2});
  EXPECT_EQ(loop.count().parameters, 2);
  loop.model.graph.nodes[0].attributes["body"] = std::make_shared<const Graph>();
  EXPECT_EQ(loop.count(), ModelCount{});
  auto function = OneNode("Conv", {"x"}).shape("y", {1});
  function.model.graph.nodes[0].domain = "my.functions";
  EXPECT_EQ(function.count(), ModelCount{});
}

TEST(CountModel, WeightsAreFloatsAndQuantisedNumbers) {
  OneNode node("DequantizeLinear", {"bias", "scale", "zero"});
  node.shape("y", {3});
  auto& weights = node.model.graph.initializers;
  weights["bias"] = weights_of(ElementType::kInt32, {3});
  weights["scale"] = weights_of(ElementType::kFloat, {});
  weights["w8"] = weights_of(ElementType::kInt8, {2, 5});
  weights["w4"] = weights_of(ElementType::kUint4, {5});
  weights["half"] = weights_of(ElementType::kFloat16, {7});
  weights["shape"] = weights_of(ElementType::kInt64, {4});
  weights["index"] = weights_of(ElementType::kInt32, {9});
  weights["mask"] = weights_of(ElementType::kBool, {9});
  node.model.graph.nodes.push_back(
      {.op = "Constant", .outputs = {"c"}, .attributes = {{"value", floats({2}, {1, 2})}}});
  node.model.graph.nodes.push_back({.op = "Constant", .outputs = {"d"}, .attributes = {{"value_float", 1.0F}}});
  node.model.graph.nodes.push_back(
      {.op = "Constant", .outputs = {"e"}, .attributes = {{"value_ints", std::vector<std::int64_t>{1}}}});
  const ModelCount count = node.count();
  EXPECT_EQ(count.parameters, 3 + 1 + 10 + 5 + 7 + 2 + 1);
  EXPECT_EQ(count.weight_bytes, 12 + 4 + 10 + 3 + 14 + 8 + 4);
  EXPECT_EQ(count.activation_bytes, 12);  // without the constants
  node.model.graph.sparse = {"s"};
  EXPECT_EQ(node.count().parameters, std::nullopt);
}

ValueInfo input_of(const std::string& name, std::vector<Dimension> shape) {
  return {.name = name, .type = ElementType::kFloat, .shape = std::move(shape), .proto = "as read"};
}

TEST(OneRow, TheFirstDimensionAndItsNamesakesAreOne) {
  Model model;
  model.graph.inputs = {input_of("x", {{.symbol = "n"}, {.symbol = "length"}}), input_of("w", {{.size = 4}})};
  model.graph.outputs = {input_of("y", {{.symbol = "length"}, {.symbol = "n"}})};
  model.graph.initializers["w"] = floats({4}, {1, 2, 3, 4});
  EXPECT_EQ(fixed_rows_of(model), 0);
  const Graph one = for_one_row(model).graph;
  EXPECT_EQ(one.inputs[0].shape, (std::vector<Dimension>{{.size = 1}, {.symbol = "length"}}));
  EXPECT_EQ(one.inputs[0].proto, "");
  EXPECT_EQ(one.inputs[1], model.graph.inputs[1]);
  EXPECT_EQ(one.outputs[0].shape, (std::vector<Dimension>{{.symbol = "length"}, {.size = 1}}));
}

TEST(OneRow, AFixedFirstDimensionIsDividedBy) {
  Model model;
  model.graph.inputs = {input_of("x", {{.size = 8}, {.size = 3}}), input_of("scale", {})};
  EXPECT_EQ(fixed_rows_of(model), 8);
  EXPECT_EQ(for_one_row(model).graph.inputs, model.graph.inputs);
  EXPECT_EQ(per_row({.flops = 80, .activation_bytes = 20, .parameters = 5}, 8),
            (ModelCount{.flops = 10, .activation_bytes = 3, .parameters = 5}));
  EXPECT_EQ(per_row({}, 8), ModelCount{});
  model.graph.inputs.push_back(input_of("state", {{.size = 2}, {.size = 8}}));
  EXPECT_EQ(fixed_rows_of(model), 1);
}

}  // namespace
}  // namespace berth::models
