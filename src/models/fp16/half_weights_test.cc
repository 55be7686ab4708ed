#include "models/fp16/half_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "models/fuse/testing/small_model.h"
#include "models/graph/numbers.h"

namespace berth::models {
namespace {

using testing::Names;
using testing::SmallModel;

TEST(HalveWeights, WithACastBehind) {
  SmallModel small;
  small.input("x", {4}).weight("w", floats({4}, {1, 2, 0.1F, 1e6F})).weight("b", floats({1}, {7}));
  small.node("Mul", {"x", "w"}, {"a"}).node("Add", {"a", "b"}, {"y"}).output("y");
  const HalfWeights halves = halve_weights(small.model, {.elements_min = 4});
  EXPECT_EQ(halves.changed_count, 1U);
  EXPECT_EQ(halves.clipped_count, 1U);
  const Graph& graph = halves.model.graph;
  EXPECT_TRUE(check_names(graph));
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[0].op, "Cast");
  EXPECT_EQ(graph.nodes[0].outputs, Names{"w"});
  EXPECT_EQ(attribute_or(graph.nodes[0], "to", std::int64_t{0}), 1);
  EXPECT_FALSE(graph.initializers.contains("w"));
  const Constant& half = *graph.initializers.at("w_half");
  EXPECT_EQ(half.type, ElementType::kFloat16);
  EXPECT_EQ(half.bytes.size(), 8U);
  const std::vector<double> numbers = to_doubles(half).value();
  EXPECT_EQ(numbers[1], 2);
  EXPECT_NEAR(numbers[2], 0.1, 0.1 / 2048);
  EXPECT_EQ(numbers[3], 65504);
  EXPECT_EQ(graph.initializers.at("b")->type, ElementType::kFloat);
}

TEST(HalveWeights, LeavesInputsOutputsOthersAndWhatIsNotFinite) {
  SmallModel small;
  small.input("d", {4}).weight("d", floats({4}, {1, 2, 3, 4})).weight("o", floats({4}, {1, 2, 3, 4}));
  small.weight("i", int64s({4}, {1, 2, 3, 4})).weight("n", floats({4}, {1, INFINITY, NAN, 4}));
  small.node("Custom", {"d", "o", "i", "n"}, {"y"}).output("y").output("o");
  const HalfWeights halves = halve_weights(small.model, {.elements_min = 1});
  EXPECT_EQ(halves.changed_count, 0U);
  EXPECT_EQ(halves.model.graph.nodes.size(), 1U);
}

TEST(HalveWeights, AlsoInGraphsOfNodes) {
  const Graph inner{.nodes = {Node{.op = "Add", .inputs = {"x", "v"}, .outputs = {"sum"}}},
                    .initializers = {{"v", floats({2}, {1, 2})}},
                    .outputs = {{.name = "sum"}}};
  const GraphPtr branch = std::make_shared<const Graph>(inner);
  SmallModel small;
  small.input("x", {2}).input("if", {}, ElementType::kBool);
  small.node("If", {"if"}, {"y"}, {{"then_branch", branch}, {"else_branch", branch}}).output("y");
  const HalfWeights halves = halve_weights(small.model, {.elements_min = 1});
  EXPECT_EQ(halves.changed_count, 2U);
  Names names;
  for (const GraphPtr& graph : graphs_in(halves.model.graph.nodes[0])) {
    ASSERT_EQ(graph->nodes.size(), 2U);
    EXPECT_EQ(graph->nodes[0].op, "Cast");
    names.push_back(graph->initializers.begin()->first);
  }
  EXPECT_NE(names[0], names[1]);
  EXPECT_EQ(branch->nodes.size(), 1U);
}

}  // namespace
}  // namespace berth::models
