#include "models/fuse/fold_sizes.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Int64s;
using testing::Names;
using testing::SmallModel;

TEST(FoldSizes, WhatIsKnownBecomesConstant) {
  SmallModel small;
  small.input("x", {-1, 3, 4}).weight("one", int64s({}, {1})).weight("two", int64s({1}, {2}));
  small.weight("ends", int64s({1}, {INT64_MAX})).weight("starts", int64s({1}, {-2}));
  small.node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "one"}, {"a"})
      .node("Slice", {"s", "starts", "ends"}, {"b"})
      .node("Mul", {"b", "two"}, {"c"})
      .node("Custom", {"a", "b", "c", "s"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(fold_sizes));
  EXPECT_EQ(small.ops(), (Names{"Shape", "Custom"}));
  EXPECT_EQ(*small.model.graph.initializers.at("a"), *int64s({}, {3}));
  EXPECT_EQ(*small.model.graph.initializers.at("b"), *int64s({2}, {3, 4}));
  EXPECT_EQ(*small.model.graph.initializers.at("c"), *int64s({2}, {6, 8}));
  EXPECT_FALSE(small.apply(fold_sizes));
}

TEST(FoldSizes, ShapeOfAPart) {
  SmallModel small;
  small.input("x", {-1, 3, 4}).input("z", {2, 3});
  small.node("Shape", {"x"}, {"s"}, {{"start", std::int64_t{-2}}, {"end", std::int64_t{-1}}})
      .node("Size", {"z"}, {"n"})
      .node("Custom", {"s", "n"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(fold_sizes));
  EXPECT_EQ(*small.model.graph.initializers.at("s"), *int64s({1}, {3}));
  EXPECT_EQ(*small.model.graph.initializers.at("n"), *int64s({}, {6}));
}

TEST(FoldSizes, OutputsStay) {
  SmallModel small;
  small.input("x", {2, 3}).node("Shape", {"x"}, {"s"}).output("s");
  EXPECT_FALSE(small.apply(fold_sizes));
}

/// x [b, s, 6] -> MatMul, Add -> h -> Reshape to the sizes of x at these places, then 2, 3.
SmallModel heads(const Int64s& places) {
  SmallModel small;
  small.input("x", {-1, -1, 6}).shape("p", {-1, -1, 6}).shape("h", {-1, -1, 6});
  small.weight("w", floats({6, 6}, std::vector<float>(36, 1))).weight("b", floats({6}, std::vector<float>(6, 1)));
  small.weight("zero", int64s({1}, {0})).weight("rest", int64s({2}, {2, 3}));
  small.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"b", "p"}, {"h"}).node("Shape", {"x"}, {"s"});
  Names parts;
  for (const std::int64_t place : places) {
    const std::string name = "size" + std::to_string(parts.size());
    small.weight("i" + name, int64s({}, {place}));
    small.node("Gather", {"s", "i" + name}, {"g" + name}).node("Unsqueeze", {"g" + name, "zero"}, {name});
    parts.push_back(name);
  }
  parts.push_back("rest");
  small.node("Concat", parts, {"t"}, {{"axis", std::int64_t{0}}}).node("Reshape", {"h", "t"}, {"y"}).output("y");
  return small;
}

TEST(FoldSizes, ReshapeCopiesSizes) {
  SmallModel small = heads({0, 1});
  EXPECT_TRUE(small.apply(fold_sizes));
  EXPECT_EQ(small.ops(), (Names{"MatMul", "Add", "Reshape"}));
  EXPECT_EQ(small.int64s_at(small.first("Reshape").inputs[1]), (Int64s{0, 0, 2, 3}));
}

TEST(FoldSizes, ReshapeLeavesOneSizeOpen) {
  SmallModel one = heads({1});
  EXPECT_TRUE(one.apply(fold_sizes));
  EXPECT_EQ(one.int64s_at(one.first("Reshape").inputs[1]), (Int64s{-1, 2, 3}));
  EXPECT_FALSE(heads({1, 0}).apply(fold_sizes)) << "two sizes at other places";
}

TEST(FoldSizes, SeesThroughWhatTheEngineDoesNot) {
  // The engine does not say the shapes behind the first Reshape.
  SmallModel small = heads({0, 1});
  small.model.graph.outputs.clear();
  small.weight("six", int64s({1}, {6}));
  small.node("Transpose", {"y"}, {"z"}, {{"perm", Int64s{0, 1, 3, 2}}}).node("Shape", {"z"}, {"zs"});
  small.weight("start", int64s({1}, {0})).weight("end", int64s({1}, {2}));
  small.node("Slice", {"zs", "start", "end"}, {"ahead"})
      .node("Concat", {"ahead", "six"}, {"u"}, {{"axis", std::int64_t{0}}})
      .node("Reshape", {"z", "u"}, {"out"})
      .output("out");
  EXPECT_TRUE(small.apply(fold_sizes));
  EXPECT_EQ(small.ops(), (Names{"MatMul", "Add", "Reshape", "Transpose", "Reshape"}));
  EXPECT_EQ(small.int64s_at(small.model.graph.nodes.back().inputs[1]), (Int64s{0, 0, 6}));
}

TEST(FoldSizes, NormalisationKeepsSizes) {
  SmallModel small;
  small.input("x", {-1, -1, 4}).shape("m", {-1, -1, 1}).shape("d", {-1, -1, 4}).weight("t2", int64s({2}, {2, 2}));
  small.node("ReduceMean", {"x"}, {"m"}, {{"axes", Int64s{-1}}})
      .node("Sub", {"x", "m"}, {"d"})
      .node("Shape", {"x"}, {"s"}, {{"end", std::int64_t{2}}})
      .node("Concat", {"s", "t2"}, {"t"}, {{"axis", std::int64_t{0}}})
      .node("Reshape", {"d", "t"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(fold_sizes));
  EXPECT_EQ(small.int64s_at(small.first("Reshape").inputs[1]), (Int64s{0, 0, 2, 2}));
}

TEST(FoldSizes, SumsOfTwoUnknownSizesAreNotFollowed) {
  // x [b, 2] + z [c, 2]: c or b, whichever is not 1.
  SmallModel small;
  small.input("x", {-1, 2}).input("z", {-1, 2}).shape("sum", {-1, 2}).input("k", {-1, -1});
  small.weight("two", int64s({1}, {2})).weight("start", int64s({1}, {0})).weight("end", int64s({1}, {1}));
  small.node("Add", {"x", "z"}, {"sum"})
      .node("Shape", {"x"}, {"s"})
      .node("Slice", {"s", "start", "end"}, {"b"})
      .node("Shape", {"k"}, {"ks"})
      .node("Slice", {"ks", "start", "end"}, {"c"})
      .node("Concat", {"b", "c"}, {"t"}, {{"axis", std::int64_t{0}}})
      .node("Reshape", {"sum", "t"}, {"y"})
      .output("y");
  EXPECT_FALSE(small.apply(fold_sizes));
}

}  // namespace
}  // namespace berth::models
