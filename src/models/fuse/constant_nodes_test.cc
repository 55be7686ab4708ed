#include "models/fuse/constant_nodes.h"

#include <gtest/gtest.h>

#include <memory>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Int64s;
using testing::Names;
using testing::SmallModel;

TEST(InitializeConstants, TakesEachKindOfValue) {
  SmallModel small;
  small.node("Constant", {}, {"a"}, {{"value", floats({2}, {1, 2})}})
      .node("Constant", {}, {"b"}, {{"value_float", 3.0F}})
      .node("Constant", {}, {"c"}, {{"value_ints", Int64s{4, 5}}})
      .node("Constant", {}, {"d"}, {{"value_string", std::string("text")}})
      .node("Custom", {"a", "b", "c", "d"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(initialize_constants));
  EXPECT_EQ(small.ops(), Names{"Custom"});
  EXPECT_EQ(small.floats_at("a"), (std::vector<float>{1, 2}));
  EXPECT_EQ(small.floats_at("b"), (std::vector<float>{3}));
  EXPECT_EQ(small.int64s_at("c"), (Int64s{4, 5}));
  EXPECT_EQ(small.model.graph.initializers.at("d")->texts, Names{"text"});
  EXPECT_FALSE(small.apply(initialize_constants));
}

TEST(InitializeConstants, LeavesOutputsAndSparseOnes) {
  SmallModel small;
  small.node("Constant", {}, {"y"}, {{"value_float", 3.0F}})
      .node("Constant", {}, {"s"}, {{"sparse_value", OpaqueAttribute{"bytes"}}})
      .node("Relu", {"s"}, {"z"})
      .output("y")
      .output("z");
  EXPECT_FALSE(small.apply(initialize_constants));
}

TEST(InitializeConstants, ReachesIntoGraphsOfNodes) {
  Graph inner{.nodes = {Node{.op = "Constant", .outputs = {"one"}, .attributes = {{"value_float", 1.0F}}},
                        Node{.op = "Add", .inputs = {"x", "one"}, .outputs = {"sum"}}},
              .outputs = {{.name = "sum"}}};
  const GraphPtr branch = std::make_shared<const Graph>(inner);
  SmallModel small;
  small.input("x", {2}).input("if", {}, ElementType::kBool);
  small.node("If", {"if"}, {"y"}, {{"then_branch", branch}, {"else_branch", branch}}).output("y");
  EXPECT_TRUE(small.apply(initialize_constants));
  for (const GraphPtr& graph : graphs_in(small.model.graph.nodes[0])) {
    EXPECT_EQ(graph->nodes.size(), 1U);
    EXPECT_TRUE(graph->initializers.contains("one"));
  }
}

TEST(DropWeightInputs, OnlyInOldFiles) {
  SmallModel small;
  small.input("x", {2}).input("w", {2}).weight("w", floats({2}, {1, 2}));
  small.node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(drop_weight_inputs));
  small.model.ir_version = 3;
  EXPECT_TRUE(small.apply(drop_weight_inputs));
  EXPECT_EQ(small.model.graph.inputs.size(), 1U);
  EXPECT_EQ(small.model.ir_version, 4);
}

}  // namespace
}  // namespace berth::models
