#include "models/fuse/duplicates.h"

#include <gtest/gtest.h>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Names;
using testing::SmallModel;

TEST(MergeEqualNodes, FollowsChains) {
  SmallModel small;
  small.input("x", {2})
      .node("Relu", {"x"}, {"a"})
      .node("Relu", {"x"}, {"b"})
      .node("Exp", {"a"}, {"c"})
      .node("Exp", {"b"}, {"d"})
      .node("Add", {"c", "d"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(merge_equal_nodes));
  EXPECT_EQ(small.ops(), (Names{"Relu", "Exp", "Add"}));
  EXPECT_EQ(small.first("Add").inputs, (Names{"c", "c"}));
  EXPECT_FALSE(small.apply(merge_equal_nodes));
}

TEST(MergeEqualNodes, LeavesWhatIsNotTheSame) {
  SmallModel small;
  small.input("x", {2})
      .node("LeakyRelu", {"x"}, {"a"}, {{"alpha", 0.1F}})
      .node("LeakyRelu", {"x"}, {"b"}, {{"alpha", 0.2F}})
      .node("RandomUniformLike", {"x"}, {"c"})
      .node("RandomUniformLike", {"x"}, {"d"})
      .node("Relu", {"x"}, {"e"})
      .node("Relu", {"x"}, {"y2"})
      .node("Sum", {"a", "b", "c", "d", "e"}, {"y"})
      .output("y")
      .output("y2");
  EXPECT_FALSE(small.apply(merge_equal_nodes));
}

TEST(MergeEqualWeights, ByTypeShapeAndContents) {
  SmallModel small;
  small.input("x", {2})
      .weight("a", floats({2}, {1, 2}))
      .weight("b", floats({2}, {1, 2}))
      .weight("c", floats({1, 2}, {1, 2}))
      .weight("d", floats({2}, {1, 3}))
      .input("e", {2})
      .weight("e", floats({2}, {1, 2}));
  small.node("Sum", {"x", "a", "b", "c", "d", "e"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(merge_equal_weights));
  EXPECT_EQ(small.first("Sum").inputs, (Names{"x", "a", "a", "c", "d", "e"}));
  EXPECT_FALSE(small.model.graph.initializers.contains("b"));
  EXPECT_FALSE(small.apply(merge_equal_weights));
}

TEST(DropDead, TakesNodesAndWeights) {
  SmallModel small;
  small.input("x", {2}).weight("w", floats({2}, {1, 2}));
  small.node("Add", {"x", "w"}, {"a"}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(drop_dead));
  EXPECT_EQ(small.ops(), Names{"Relu"});
  EXPECT_TRUE(small.model.graph.initializers.empty());
  EXPECT_FALSE(small.apply(drop_dead));
}

}  // namespace
}  // namespace berth::models
