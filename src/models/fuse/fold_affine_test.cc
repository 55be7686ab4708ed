#include "models/fuse/fold_affine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/fuse/testing/small_model.h"
#include "models/graph/numbers.h"

namespace berth::models {
namespace {

using testing::Attributes;
using testing::Int64s;
using testing::Names;
using testing::SmallModel;
using Floats = std::vector<float>;

/// x [-1, 2, 8, 8] -> Conv with weights [2, 2, 1, 1] = 1 2 3 4 -> c.
SmallModel convolution(bool has_bias, Attributes attributes = {}) {
  SmallModel small;
  small.input("x", {-1, 2, 8, 8}).shape("c", {-1, 2, 8, 8}).weight("w", floats({2, 2, 1, 1}, {1, 2, 3, 4}));
  if (has_bias) small.weight("b", floats({2}, {10, 20}));
  small.node("Conv", has_bias ? Names{"x", "w", "b"} : Names{"x", "w"}, {"c"}, std::move(attributes));
  return small;
}

/// factor = 2 / sqrt(3 + 1) = 1 and 4 / sqrt(15 + 1) = 1, doubled; mean 1 and 2, bias 5 and 6.
void add_batch_norm(SmallModel& small, const std::string& from, const std::string& to, Names more_outputs = {}) {
  small.weight("scale", floats({2}, {4, 8}))
      .weight("bias", floats({2}, {5, 6}))
      .weight("mean", floats({2}, {1, 2}))
      .weight("variance", floats({2}, {3, 15}));
  Names outputs = {to};
  outputs.insert(outputs.end(), more_outputs.begin(), more_outputs.end());
  small.node("BatchNormalization", {from, "scale", "bias", "mean", "variance"}, outputs, {{"epsilon", 1.0F}});
}

TEST(FoldAffine, BatchNormalizationIntoConv) {
  for (const bool has_bias : {false, true}) {
    SmallModel small = convolution(has_bias, {{"pads", Int64s{1, 1, 1, 1}}});
    add_batch_norm(small, "c", "y");
    small.output("y");
    EXPECT_TRUE(small.apply(fold_affine));
    EXPECT_EQ(small.ops(), Names{"Conv"});
    const Node& conv = small.first("Conv");
    EXPECT_EQ(conv.outputs, Names{"y"});
    EXPECT_EQ(small.floats_at(conv.inputs[1]), (Floats{2, 4, 6, 8}));
    EXPECT_EQ(small.floats_at(conv.inputs[2]), has_bias ? (Floats{23, 42}) : (Floats{3, 2}));
    EXPECT_EQ(small.model.graph.initializers.size(), 2U);
  }
}

TEST(FoldAffine, BatchNormalizationThatTrainsStays) {
  SmallModel small = convolution(false);
  add_batch_norm(small, "c", "y", {"m"});
  small.output("y").output("m");
  EXPECT_FALSE(small.apply(fold_affine));
  SmallModel marked = convolution(false);
  add_batch_norm(marked, "c", "y");
  marked.model.graph.nodes.back().attributes["training_mode"] = std::int64_t{1};
  marked.output("y");
  EXPECT_FALSE(marked.apply(fold_affine));
}

TEST(FoldAffine, WhatIsSeenElsewhereStays) {
  SmallModel used = convolution(false);
  add_batch_norm(used, "c", "y");
  used.node("Relu", {"c"}, {"z"}).output("y").output("z");
  EXPECT_FALSE(used.apply(fold_affine));
  SmallModel output = convolution(false);
  add_batch_norm(output, "c", "y");
  output.output("y").output("c");
  EXPECT_FALSE(output.apply(fold_affine));
}

TEST(FoldAffine, SharedWeightsAreCopied) {
  SmallModel small = convolution(false);
  add_batch_norm(small, "c", "y");
  small.node("Conv", {"x", "w"}, {"z"}).output("y").output("z");
  EXPECT_TRUE(small.apply(fold_affine));
  EXPECT_EQ(small.floats_at("w"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(small.floats_at(small.model.graph.nodes[0].inputs[1]), (Floats{2, 4, 6, 8}));
}

TEST(FoldAffine, WeightsThatTheCallerMaySetStay) {
  SmallModel small = convolution(false);
  small.input("w", {2, 2, 1, 1});
  add_batch_norm(small, "c", "y");
  small.output("y");
  EXPECT_FALSE(small.apply(fold_affine));
}

/// Conv, and then `op` with a constant as input `place`. Empty: it stays.
Names ops_after(const std::string& op, std::size_t place, ConstantPtr constant, Floats* weights, Floats* bias) {
  SmallModel small = convolution(true);
  small.weight("k", std::move(constant));
  small.node(op, place == 0 ? Names{"k", "c"} : Names{"c", "k"}, {"y"}).output("y");
  if (!small.apply(fold_affine)) return {};
  *weights = small.floats_at(small.first("Conv").inputs[1]);
  *bias = small.floats_at(small.first("Conv").inputs[2]);
  return small.ops();
}

TEST(FoldAffine, ArithmeticAfterConv) {
  Floats w;
  Floats b;
  EXPECT_EQ(ops_after("Mul", 1, floats({2, 1, 1}, {2, 3}), &w, &b), Names{"Conv"});
  EXPECT_EQ(w, (Floats{2, 4, 9, 12}));
  EXPECT_EQ(b, (Floats{20, 60}));
  EXPECT_EQ(ops_after("Add", 0, floats({1, 2, 1, 1}, {2, 3}), &w, &b), Names{"Conv"});
  EXPECT_EQ(w, (Floats{1, 2, 3, 4}));
  EXPECT_EQ(b, (Floats{12, 23}));
  EXPECT_EQ(ops_after("Sub", 1, floats({}, {1}), &w, &b), Names{"Conv"});
  EXPECT_EQ(b, (Floats{9, 19}));
  EXPECT_EQ(ops_after("Sub", 0, floats({1}, {1}), &w, &b), Names{"Conv"});
  EXPECT_EQ(w, (Floats{-1, -2, -3, -4}));
  EXPECT_EQ(b, (Floats{-9, -19}));
  EXPECT_EQ(ops_after("Div", 1, floats({1, 1, 1, 1}, {2}), &w, &b), Names{"Conv"});
  EXPECT_EQ(w, (Floats{0.5F, 1, 1.5F, 2}));
}

TEST(FoldAffine, OtherArithmeticStays) {
  Floats w;
  Floats b;
  EXPECT_EQ(ops_after("Div", 0, floats({}, {2}), &w, &b), Names{});
  EXPECT_EQ(ops_after("Div", 1, floats({}, {0}), &w, &b), Names{}) << "not finite";
  EXPECT_EQ(ops_after("Mul", 1, floats({1, 1, 1, 1, 1}, {2}), &w, &b), Names{}) << "adds a dimension";
  EXPECT_EQ(ops_after("Mul", 1, floats({8}, Floats(8, 2)), &w, &b), Names{}) << "by column";
  EXPECT_EQ(ops_after("Mul", 1, floats({2, 1, 1, 1}, {2, 3}), &w, &b), Names{}) << "by row of the batch";
}

TEST(FoldAffine, ConvTransposeWithGroups) {
  SmallModel small;
  // 2 groups with 2 inputs and 1 output each.
  small.input("x", {1, 4, 8, 8}).weight("w", floats({4, 1, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  small.weight("k", floats({2, 1, 1}, {10, 100}));
  small.node("ConvTranspose", {"x", "w"}, {"c"}, {{"group", std::int64_t{2}}})
      .node("Mul", {"c", "k"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(fold_affine));
  EXPECT_EQ(small.ops(), Names{"ConvTranspose"});
  EXPECT_EQ(small.floats_at("w"), (Floats{10, 20, 30, 40, 500, 600, 700, 800}));
}

TEST(FoldAffine, GemmWithItsFlags) {
  SmallModel small;
  small.input("x", {-1, 2}).weight("w", floats({3, 2}, {1, 2, 3, 4, 5, 6})).weight("b", floats({1, 3}, {1, 2, 3}));
  small.weight("k", floats({3}, {1, 10, 100})).weight("l", floats({3}, {7, 8, 9}));
  small.node("Gemm", {"x", "w", "b"}, {"c"}, {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}})
      .node("Mul", {"c", "k"}, {"d"})
      .node("Add", {"d", "l"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(fold_affine));
  EXPECT_EQ(small.ops(), Names{"Gemm"});
  const Node& gemm = small.first("Gemm");
  EXPECT_EQ(small.floats_at(gemm.inputs[1]), (Floats{1, 2, 30, 40, 500, 600}));
  EXPECT_EQ(small.floats_at(gemm.inputs[2]), (Floats{2 + 7, 40 + 8, 600 + 9}));
  EXPECT_EQ(attribute_or(gemm, "alpha", 0.0F), 0.5F);
  EXPECT_EQ(attribute_or(gemm, "beta", 1.0F), 1.0F);
}

TEST(FoldAffine, GemmWithABiasPerRowStays) {
  SmallModel small;
  small.input("x", {2, 2}).weight("w", floats({2, 2}, {1, 2, 3, 4})).weight("b", floats({2, 1}, {1, 2}));
  small.weight("k", floats({}, {2})).node("Gemm", {"x", "w", "b"}, {"c"}).node("Mul", {"c", "k"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(fold_affine));
}

TEST(FoldAffine, MatMulIsScaledOnly) {
  SmallModel small;
  small.input("x", {-1, 5, 2}).weight("w", floats({2, 2}, {1, 2, 3, 4})).weight("k", floats({1, 1, 2}, {2, 10}));
  small.node("MatMul", {"x", "w"}, {"c"}).node("Mul", {"c", "k"}, {"d"}).node("Add", {"d", "k"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(fold_affine));
  EXPECT_EQ(small.ops(), (Names{"MatMul", "Add"}));
  EXPECT_EQ(small.floats_at("w"), (Floats{2, 20, 6, 40}));
}

TEST(FoldAffine, MatMulOfMatricesBecomesGemm) {
  SmallModel small;
  small.input("x", {-1, 2}).shape("c", {-1, 2}).weight("w", floats({2, 2}, {1, 2, 3, 4}));
  small.node("MatMul", {"x", "w"}, {"c"});
  add_batch_norm(small, "c", "y");
  small.output("y");
  EXPECT_TRUE(small.apply(fold_affine));
  EXPECT_EQ(small.ops(), Names{"Gemm"});
  EXPECT_EQ(small.floats_at("w"), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(small.floats_at(small.first("Gemm").inputs[2]), (Floats{3, 2}));
}

TEST(FoldAffine, KeepsTheTypeOfTheWeights) {
  for (const ElementType type : {ElementType::kDouble, ElementType::kFloat16}) {
    SmallModel small;
    small.input("x", {-1, 2, 8}, type).weight("w", from_doubles(type, {1, 2, 1}, {1, 2}));
    small.weight("k", from_doubles(type, {}, {3}));
    small.node("Conv", {"x", "w"}, {"c"}).node("Mul", {"c", "k"}, {"y"}).output("y");
    EXPECT_TRUE(small.apply(fold_affine));
    EXPECT_EQ(small.model.graph.initializers.at("w")->type, type);
    EXPECT_EQ(to_doubles(*small.model.graph.initializers.at("w")), (std::vector<double>{3, 6}));
  }
}

TEST(FoldAffine, StaysWithinFloat16) {
  SmallModel small;
  small.input("x", {-1, 1, 8}, ElementType::kFloat16);
  small.weight("w", from_doubles(ElementType::kFloat16, {1, 1, 1}, {1000}));
  small.weight("k", from_doubles(ElementType::kFloat16, {}, {100}));
  small.node("Conv", {"x", "w"}, {"c"}).node("Mul", {"c", "k"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(fold_affine));
}

TEST(FoldAffineBefore, BatchNormalizationBeforeConvWithoutPadding) {
  SmallModel small;
  small.input("x", {-1, 2, 8, 8}).weight("w", floats({1, 2, 1, 1}, {1, 10}));
  add_batch_norm(small, "x", "a");
  small.node("Conv", {"a", "w"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(fold_affine_before));
  EXPECT_EQ(small.ops(), Names{"Conv"});
  // y = 2 x + (3, 2)
  EXPECT_EQ(small.floats_at("w"), (Floats{2, 20}));
  EXPECT_EQ(small.floats_at(small.first("Conv").inputs[2]), (Floats{3 + 20}));
}

TEST(FoldAffineBefore, PaddingSeesWhatIsAdded) {
  for (const Attributes& padding :
       {Attributes{{"pads", Int64s{1, 1, 1, 1}}}, Attributes{{"auto_pad", std::string("SAME_UPPER")}}}) {
    SmallModel small;
    small.input("x", {-1, 2, 8, 8}).weight("w", floats({1, 2, 1, 1}, {1, 10}));
    add_batch_norm(small, "x", "a");
    small.node("Conv", {"a", "w"}, {"y"}, padding).output("y");
    EXPECT_FALSE(small.apply(fold_affine_before));
  }
}

TEST(FoldAffineBefore, TheFactorOfAnInput) {
  SmallModel small;
  small.input("x", {-1, 2, 8, 8}).weight("w", floats({1, 2, 1, 1}, {1, 10})).weight("k", floats({}, {0.5F}));
  small.node("Mul", {"x", "k"}, {"a"}).node("Conv", {"a", "w"}, {"y"}, {{"pads", Int64s{1, 1, 1, 1}}}).output("y");
  EXPECT_TRUE(small.apply(fold_affine_before));
  EXPECT_EQ(small.floats_at("w"), (Floats{0.5F, 5}));
}

TEST(FoldAffineBefore, ConstantsThatMakeTheInputLargerStay) {
  SmallModel small;
  small.input("x", {-1, 1, 8, 8}).weight("w", floats({1, 2, 1, 1}, {1, 10})).weight("k", floats({2, 1, 1}, {1, 2}));
  small.node("Mul", {"x", "k"}, {"a"}).node("Conv", {"a", "w"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(fold_affine_before));
}

TEST(FoldAffineBefore, Groups) {
  SmallModel small;
  small.input("x", {-1, 2, 8, 8}).weight("w", floats({2, 1, 1, 1}, {1, 10}));
  add_batch_norm(small, "x", "a");
  small.node("Conv", {"a", "w"}, {"y"}, {{"group", std::int64_t{2}}}).output("y");
  EXPECT_TRUE(small.apply(fold_affine_before));
  EXPECT_EQ(small.floats_at("w"), (Floats{2, 20}));
  EXPECT_EQ(small.floats_at(small.first("Conv").inputs[2]), (Floats{3, 20}));
}

}  // namespace
}  // namespace berth::models
