#include "models/fuse/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Int64s;
using testing::Names;
using testing::SmallModel;

SmallModel normalization(std::int64_t opset, const Int64s& dims, const Int64s& axes) {
  SmallModel small(opset);
  small.input("x", dims).shape("s", dims);
  small.weight("two", floats({}, {2})).weight("epsilon", floats({}, {1e-6F}));
  small.weight("scale", floats({3}, {1, 2, 3})).weight("bias", floats({1, 3}, {4, 5, 6}));
  small.node("ReduceMean", {"x"}, {"m"}, {{"axes", axes}})
      .node("Sub", {"x", "m"}, {"d"})
      .node("Pow", {"d", "two"}, {"s"})
      .node("ReduceMean", {"s"}, {"v"}, {{"axes", axes}})
      .node("Add", {"v", "epsilon"}, {"e"})
      .node("Sqrt", {"e"}, {"r"})
      .node("Div", {"d", "r"}, {"q"})
      .node("Mul", {"scale", "q"}, {"t"})
      .node("Add", {"t", "bias"}, {"y"})
      .output("y");
  return small;
}

TEST(NameLayerNormalization, OverTheLastDimension) {
  for (const Int64s& axes : {Int64s{-1}, Int64s{2}}) {
    SmallModel small = normalization(17, {-1, -1, 3}, axes);
    EXPECT_TRUE(small.apply(name_layer_normalization));
    EXPECT_EQ(small.ops(), Names{"LayerNormalization"});
    const Node& node = small.first("LayerNormalization");
    EXPECT_EQ(node.inputs, (Names{"x", "scale", "bias"}));
    EXPECT_EQ(node.outputs, Names{"y"});
    EXPECT_EQ(attribute_or(node, "epsilon", 0.0F), 1e-6F);
    EXPECT_EQ(small.model.graph.initializers.at("bias")->dims, Dims{3});
  }
}

TEST(NameLayerNormalization, NotBeforeVersion17) {
  EXPECT_FALSE(normalization(16, {-1, -1, 3}, {-1}).apply(name_layer_normalization));
}

TEST(NameLayerNormalization, NotOverOtherDimensions) {
  EXPECT_FALSE(normalization(17, {-1, 3, 3}, {1}).apply(name_layer_normalization));
  EXPECT_FALSE(normalization(17, {-1, -1, 1}, {-1}).apply(name_layer_normalization)) << "scale makes it larger";
  EXPECT_FALSE(normalization(17, {-1, -1, -1}, {-1}).apply(name_layer_normalization));
}

TEST(NameLayerNormalization, NotIfAPartIsUsed) {
  SmallModel small = normalization(17, {-1, -1, 3}, {-1});
  small.output("v");
  EXPECT_FALSE(small.apply(name_layer_normalization));
}

/// Three factors, x, 0.5 and 1 + erf(x / sqrt(2)), multiplied in an order.
SmallModel gelu(std::int64_t opset, const Names& inner, const std::string& outer) {
  SmallModel small(opset);
  small.input("x", {-1, 3}).shape("y", {-1, 3});
  small.weight("root", floats({}, {std::sqrt(2.0F)})).weight("one", floats({}, {1})).weight("half", floats({}, {0.5F}));
  small.node("Div", {"x", "root"}, {"a"})
      .node("Erf", {"a"}, {"b"})
      .node("Add", {"b", "one"}, {"c"})
      .node("Mul", inner, {"d"})
      .node("Mul", {outer, "d"}, {"y"})
      .output("y");
  return small;
}

TEST(NameGelu, FactorsInAnyOrder) {
  for (SmallModel small : {gelu(20, {"x", "c"}, "half"), gelu(20, {"x", "half"}, "c"), gelu(20, {"half", "c"}, "x"),
                           gelu(20, {"c", "x"}, "half")}) {
    EXPECT_TRUE(small.apply(name_gelu));
    EXPECT_EQ(small.ops(), Names{"Gelu"});
    EXPECT_EQ(small.first("Gelu").inputs, Names{"x"});
    EXPECT_EQ(small.first("Gelu").outputs, Names{"y"});
  }
}

TEST(NameGelu, NotBeforeVersion20NorOfOtherNumbers) {
  EXPECT_FALSE(gelu(19, {"x", "c"}, "half").apply(name_gelu));
  SmallModel other = gelu(20, {"x", "c"}, "half");
  other.weight("root", floats({}, {1.5F}));
  EXPECT_FALSE(other.apply(name_gelu));
  SmallModel used = gelu(20, {"x", "c"}, "half");
  used.output("b");
  EXPECT_FALSE(used.apply(name_gelu));
}

}  // namespace
}  // namespace berth::models
