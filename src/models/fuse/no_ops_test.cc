#include "models/fuse/no_ops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Attributes;
using testing::Int64s;
using testing::Names;
using testing::sizes;
using testing::SmallModel;

/// x [-1, 3, 4] -> Relu -> a -> `op` with further inputs w, w2, ... -> b -> Exp -> y. Whether `op` goes.
bool goes(const std::string& op, const std::vector<ConstantPtr>& weights, Attributes attributes = {}) {
  SmallModel small;
  small.input("x", {-1, 3, 4}).shape("a", {-1, 3, 4}).node("Relu", {"x"}, {"a"});
  Names inputs = {"a"};
  for (const ConstantPtr& weight : weights) {
    inputs.push_back(weight == nullptr ? "" : "w" + std::to_string(inputs.size()));
    if (weight != nullptr) small.weight(inputs.back(), weight);
  }
  small.node(op, inputs, {"b"}, std::move(attributes)).node("Exp", {"b"}, {"y"}).output("y");
  const bool is_changed = small.apply(drop_no_ops);
  EXPECT_EQ(small.ops(), is_changed ? (Names{"Relu", "Exp"}) : (Names{"Relu", op, "Exp"}));
  return is_changed;
}

TEST(DropNoOps, ByOperator) {
  EXPECT_TRUE(goes("Identity", {}));
  EXPECT_TRUE(goes("Cast", {}, {{"to", std::int64_t{1}}}));
  EXPECT_FALSE(goes("Cast", {}, {{"to", std::int64_t{10}}}));
  EXPECT_TRUE(goes("Transpose", {}, {{"perm", Int64s{0, 1, 2}}}));
  EXPECT_FALSE(goes("Transpose", {}, {{"perm", Int64s{0, 2, 1}}}));
  EXPECT_FALSE(goes("Transpose", {}));
  EXPECT_TRUE(goes("Concat", {}, {{"axis", std::int64_t{0}}}));
  EXPECT_TRUE(goes("Sum", {}));
}

TEST(DropNoOps, ReshapeToTheSame) {
  EXPECT_TRUE(goes("Reshape", {sizes({-1, 3, 4})}));
  EXPECT_TRUE(goes("Reshape", {sizes({0, 0, -1})}));
  EXPECT_FALSE(goes("Reshape", {sizes({-1, 4, 3})}));
  EXPECT_FALSE(goes("Reshape", {sizes({0, 12})}));
  EXPECT_FALSE(goes("Reshape", {sizes({2, 3, 4})})) << "refuses other batches";
  EXPECT_FALSE(goes("Reshape", {sizes({0, 3, 4})}, {{"allowzero", std::int64_t{1}}}));
}

TEST(DropNoOps, SlicesOfAll) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(goes("Slice", {sizes({0}), sizes({kEnd}), sizes({0})}));
  EXPECT_TRUE(goes("Slice", {sizes({0}), sizes({4}), sizes({-1}), sizes({1})}));
  EXPECT_FALSE(goes("Slice", {sizes({0}), sizes({3}), sizes({2})}));
  EXPECT_FALSE(goes("Slice", {sizes({0}), sizes({8}), sizes({0})})) << "the batch may be larger";
  EXPECT_FALSE(goes("Slice", {sizes({0}), sizes({kEnd}), sizes({1}), sizes({2})}));
  EXPECT_FALSE(goes("Slice", {sizes({1}), sizes({kEnd}), sizes({1})}));
}

TEST(DropNoOps, PadsAndTiles) {
  EXPECT_TRUE(goes("Pad", {sizes({0, 0, 0, 0, 0, 0})}));
  EXPECT_FALSE(goes("Pad", {sizes({0, 0, 0, 0, 0, 1})}));
  EXPECT_TRUE(goes("Tile", {sizes({1, 1, 1})}));
  EXPECT_FALSE(goes("Tile", {sizes({1, 1, 2})}));
  EXPECT_TRUE(goes("Expand", {sizes({1, 1})}));
  EXPECT_FALSE(goes("Expand", {sizes({1, 1, 1, 1})}));
}

TEST(DropNoOps, NeutralNumbers) {
  EXPECT_TRUE(goes("Add", {floats({}, {0})}));
  EXPECT_TRUE(goes("Sub", {floats({3, 1}, {0, 0, 0})}));
  EXPECT_TRUE(goes("Mul", {floats({1, 1, 4}, {1, 1, 1, 1})}));
  EXPECT_TRUE(goes("Div", {floats({1}, {1})}));
  EXPECT_TRUE(goes("Pow", {floats({}, {1})}));
  EXPECT_FALSE(goes("Add", {floats({3, 1}, {0, 1, 0})}));
  EXPECT_FALSE(goes("Add", {floats({1, 1, 1, 1}, {0})})) << "adds a dimension";
  EXPECT_FALSE(goes("Mul", {floats({}, {0})}));
  EXPECT_FALSE(goes("Add", {floats({2, 1, 1}, {0, 0})})) << "a batch of 1 becomes 2";
}

TEST(DropNoOps, DropoutUnlessItTrains) {
  const auto flag = [](char value) { return share({.type = ElementType::kBool, .bytes = std::string(1, value)}); };
  EXPECT_TRUE(goes("Dropout", {}));
  EXPECT_TRUE(goes("Dropout", {floats({}, {0.5F}), flag('\0')}));
  EXPECT_TRUE(goes("Dropout", {nullptr, flag('\0')}));
  EXPECT_FALSE(goes("Dropout", {nullptr, flag('\1')}));
}

TEST(DropNoOps, DropoutWhoseMaskIsUsedStays) {
  SmallModel small;
  small.input("x", {2}).node("Dropout", {"x"}, {"a", "mask"}).node("Relu", {"a"}, {"y"}).output("y").output("mask");
  EXPECT_FALSE(small.apply(drop_no_ops));
}

TEST(DropNoOps, NeutralFirstInput) {
  SmallModel small;
  small.input("x", {2}).weight("w", floats({}, {1}));
  small.node("Mul", {"w", "x"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(drop_no_ops));
  EXPECT_EQ(small.first("Relu").inputs, Names{"x"});
}

TEST(DropNoOps, OutputsKeepTheirNames) {
  SmallModel small;
  small.input("x", {2})
      .node("Relu", {"x"}, {"a"})
      .node("Exp", {"a"}, {"b"})
      .node("Identity", {"a"}, {"y"})
      .output("y")
      .output("b");
  EXPECT_TRUE(small.apply(drop_no_ops));
  EXPECT_EQ(small.ops(), (Names{"Relu", "Exp"}));
  EXPECT_EQ(small.first("Relu").outputs, Names{"y"});
  EXPECT_EQ(small.first("Exp").inputs, Names{"y"});
}

TEST(DropNoOps, InputsThatAreOutputsKeepTheirNode) {
  SmallModel small;
  small.input("x", {2}).node("Identity", {"x"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(drop_no_ops));
}

TEST(DropNoOps, OneValueCannotBeTwoOutputs) {
  SmallModel small;
  small.input("x", {2}).node("Relu", {"x"}, {"a"}).node("Identity", {"a"}, {"b"}).node("Identity", {"a"}, {"c"});
  small.output("b").output("c");
  EXPECT_TRUE(small.apply(drop_no_ops));
  EXPECT_EQ(small.ops(), (Names{"Relu", "Identity"}));
}

TEST(DropNoOps, ADefaultOfAnInputIsNotConstant) {
  SmallModel small;
  small.input("x", {2}).input("w", {2}).weight("w", floats({2}, {0, 0}));
  small.node("Add", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(drop_no_ops));
}

TEST(DropNoOps, LongChains) {
  SmallModel small;
  small.input("x", {2}).node("Relu", {"x"}, {"v0"});
  for (int i = 0; i < 100; ++i) small.node("Identity", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  small.output("v100");
  EXPECT_TRUE(small.apply(drop_no_ops));
  EXPECT_EQ(small.ops(), Names{"Relu"});
}

}  // namespace
}  // namespace berth::models
