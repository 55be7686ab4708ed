#include "models/onnx/raise_opset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/graph/graph_index.h"
#include "models/onnx/check_model.h"
#include "models/onnx/read_model.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ValueInfo row_info(std::string name, std::vector<Dimension> shape) {
  return {.name = std::move(name), .type = ElementType::kFloat, .shape = std::move(shape)};
}

/// y = Squeeze(x * w) by an attribute, as before version 13.
Model squeeze_model() {
  const std::vector<std::int64_t> axes{1};
  return {.ir_version = 6,
          .opsets = {{"", 11}},
          .graph = {.name = "squeeze",
                    .nodes = {{.op = "Mul", .inputs = {"x", "w"}, .outputs = {"m"}},
                              {.op = "Squeeze", .inputs = {"m"}, .outputs = {"y"}, .attributes = {{"axes", axes}}}},
                    .initializers = {{"w", floats({2'000}, std::vector<float>(2'000, 3))}},
                    .inputs = {row_info("x", {{.symbol = "N"}, {.size = 1}, {.size = 2'000}})},
                    .outputs = {row_info("y", {{.symbol = "N"}, {.size = 2'000}})}}};
}

TEST(RaiseOpset, MovesAxesIntoAnInput) {
  const Model model = squeeze_model();
  const Result<Model> raised = raise_opset(model, 13);
  ASSERT_TRUE(raised) << raised.error().message;
  EXPECT_EQ(raised->opset(), 13);
  EXPECT_EQ(raised->ir_version, 7);
  const Graph& graph = raised->graph;
  const auto squeeze = std::ranges::find(graph.nodes, "Squeeze", &Node::op);
  ASSERT_NE(squeeze, graph.nodes.end());
  ASSERT_EQ(squeeze->inputs.size(), 2U);
  const std::optional<ConstantPtr> axes = constant_input(graph, GraphIndex(graph), *squeeze, 1);
  ASSERT_TRUE(axes);
  EXPECT_THAT(to_int64s(**axes), ElementsAre(1));
  EXPECT_EQ(graph.initializers.at("w"), model.graph.initializers.at("w"));
  EXPECT_EQ(graph.inputs, model.graph.inputs);
  EXPECT_EQ(graph.outputs, model.graph.outputs);
  EXPECT_TRUE(check_model(*raised));
  EXPECT_TRUE(write_model(*raised));
}

TEST(RaiseOpset, TakesShapesThatTheFileDoesNotSay) {
  Model model = squeeze_model();
  model.graph.nodes.back() = {.op = "Softmax", .inputs = {"m"}, .outputs = {"y"}};
  model.graph.outputs = model.graph.inputs;
  model.graph.outputs.front().name = "y";
  EXPECT_THAT(raise_opset(model, 13).error().message, HasSubstr("Softmax"));
  const Result<Model> raised =
      raise_opset(model, 13, {{"m", {.type = ElementType::kFloat, .dims = std::vector<std::int64_t>{-1, 1, 2'000}}}});
  ASSERT_TRUE(raised) << raised.error().message;
  EXPECT_TRUE(raised->graph.values.empty());
  EXPECT_TRUE(check_model(*raised));
}

TEST(RaiseOpset, ConvertsGraphsInsideNodes) {
  Model model = squeeze_model();
  const Node squeeze{
      .op = "Squeeze", .inputs = {"m"}, .outputs = {"s"}, .attributes = {{"axes", std::vector<std::int64_t>{1}}}};
  const auto inside = std::make_shared<const Graph>(
      Graph{.name = "inside", .nodes = {squeeze}, .outputs = {row_info("s", {{.symbol = "N"}, {.size = 2'000}})}});
  model.graph.nodes[1] = {.op = "If",
                          .inputs = {"is_first"},
                          .outputs = {"y"},
                          .attributes = {{"then_branch", inside}, {"else_branch", inside}}};
  model.graph.inputs.push_back({.name = "is_first", .type = ElementType::kBool, .shape = std::vector<Dimension>()});
  const Result<Model> raised = raise_opset(model, 17);
  ASSERT_TRUE(raised) << raised.error().message;
  EXPECT_TRUE(check_model(*raised));
  const std::vector<GraphPtr> graphs = graphs_in(raised->graph.nodes.back());
  ASSERT_EQ(graphs.size(), 2U);
  for (const GraphPtr& graph : graphs) EXPECT_EQ(graph->nodes.back().inputs.size(), 2U);
}

TEST(RaiseOpset, KeepsDescriptions) {
  constexpr const char* kDescription = "2\x04here";  // doc_string of a NodeProto
  Model model = squeeze_model();
  for (Node& node : model.graph.nodes) node.rest = kDescription;
  const auto inside = std::make_shared<const Graph>(
      Graph{.name = "inside",
            .nodes = {{.op = "Mul", .inputs = {"m", "m"}, .outputs = {"s"}, .rest = kDescription}},
            .outputs = {row_info("s", {{.symbol = "N"}, {.size = 1}, {.size = 2'000}})}});
  model.graph.nodes.push_back({.op = "If",
                               .inputs = {"is_first"},
                               .outputs = {"z"},
                               .attributes = {{"then_branch", inside}, {"else_branch", inside}},
                               .rest = kDescription});
  model.graph.inputs.push_back({.name = "is_first", .type = ElementType::kBool, .shape = std::vector<Dimension>()});
  model.graph.outputs.push_back(row_info("z", {{.symbol = "N"}, {.size = 1}, {.size = 2'000}}));
  const Result<Model> raised = raise_opset(model, 17);
  ASSERT_TRUE(raised) << raised.error().message;
  for (const char* op : {"Mul", "Squeeze", "If"}) {
    EXPECT_EQ(std::ranges::find(raised->graph.nodes, op, &Node::op)->rest, kDescription) << op;
  }
  const std::vector<GraphPtr> graphs = graphs_in(*std::ranges::find(raised->graph.nodes, "If", &Node::op));
  ASSERT_EQ(graphs.size(), 2U);
  for (const GraphPtr& graph : graphs) EXPECT_EQ(graph->nodes.back().rest, kDescription);
  EXPECT_TRUE(check_model(*raised));
}

TEST(RaiseOpset, LeavesALaterVersion) {
  Model model = squeeze_model();
  model.opsets[""] = 17;
  EXPECT_EQ(write_model(raise_opset(model, 13).value()).value(), write_model(model).value());
}

TEST(RaiseOpset, NamesWhatCannotBeConverted) {
  Model model = squeeze_model();
  model.opsets["com.microsoft"] = 1;
  EXPECT_TRUE(raise_opset(model, 13)) << "an operator set that no node uses";
  model.graph.nodes[0].domain = "com.microsoft";
  EXPECT_EQ(
      raise_opset(model, 13).error().message,
      "cannot be converted from version 11 of the operators to 13: it has operators of another domain: \"Mul\" of "
      "\"com.microsoft\"");
  model = squeeze_model();
  model.graph.nodes[0].attributes.emplace("type", OpaqueAttribute{});
  EXPECT_THAT(raise_opset(model, 13).error().message, HasSubstr("attribute \"type\" of \"Mul\" is of another kind"));
  model = squeeze_model();
  model.graph.nodes[0].op = "NoSuchOperator";
  EXPECT_THAT(raise_opset(model, 13).error().message, HasSubstr("version 11 of the operators to 13: "));
}

}  // namespace
}  // namespace berth::models
