#include "models/fuse/reshapes.h"

#include <gtest/gtest.h>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Int64s;
using testing::Names;
using testing::sizes;
using testing::SmallModel;

/// Two Reshapes of x [-1, 12]; the target of the one that is left, empty: two are left.
Int64s merged(const Int64s& first, const Int64s& second) {
  SmallModel small;
  small.input("x", {-1, 12}).weight("s", sizes(first)).weight("t", sizes(second));
  small.node("Reshape", {"x", "s"}, {"a"}).node("Reshape", {"a", "t"}, {"y"}).output("y");
  if (!small.apply(merge_reshapes)) return {};
  EXPECT_EQ(small.ops(), Names{"Reshape"});
  return small.int64s_at(small.first("Reshape").inputs[1]);
}

TEST(MergeReshapes, ByConstants) {
  EXPECT_EQ(merged({-1, 3, 4}, {-1, 6, 2}), (Int64s{-1, 6, 2}));
  EXPECT_EQ(merged({0, 3, 4}, {0, 6, 2}), (Int64s{0, 6, 2}));
  EXPECT_EQ(merged({0, 3, 4}, {0, 0, -1}), (Int64s{0, 3, -1}));
  EXPECT_EQ(merged({-1, 3, 4}, {0, 12}), (Int64s{-1, 12}));
  EXPECT_EQ(merged({-1, 3, 4}, {0, -1}), (Int64s{})) << "two sizes would be left open";
}

TEST(MergeReshapes, ByKnownShapes) {
  SmallModel small;
  small.input("x", {-1, 12}).input("s", {3}, ElementType::kInt64).shape("y", {-1, 12});
  small.node("Reshape", {"x", "s"}, {"a"}).node("Flatten", {"a"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(merge_reshapes));
  EXPECT_EQ(small.ops(), Names{"Reshape"});
  EXPECT_EQ(small.int64s_at(small.first("Reshape").inputs[1]), (Int64s{-1, 12}));
}

TEST(MergeReshapes, NotWithSeveralUnknownSizes) {
  SmallModel small;
  small.input("x", {-1, -1, 1}).shape("y", {-1, -1, 1}).weight("axes", sizes({2}));
  small.node("Squeeze", {"x", "axes"}, {"a"}).node("Unsqueeze", {"a", "axes"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(merge_reshapes));
}

TEST(MergeReshapes, UnsqueezeTwice) {
  SmallModel small;
  small.input("x", {-1, -1}).shape("a", {1, -1, -1}).weight("s", sizes({-3})).weight("t", sizes({1, -1}));
  small.node("Unsqueeze", {"x", "s"}, {"a"}).node("Unsqueeze", {"a", "t"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(merge_reshapes));
  EXPECT_EQ(small.ops(), Names{"Unsqueeze"});
  // x [p, q] -> [1, p, q] -> [1, 1, p, q, 1]
  EXPECT_EQ(small.int64s_at(small.first("Unsqueeze").inputs[1]), (Int64s{0, 1, 4}));
}

TEST(MergeReshapes, UnsqueezeOfOldVersions) {
  SmallModel small(11);
  small.input("x", {-1, -1});
  small.node("Unsqueeze", {"x"}, {"a"}, {{"axes", Int64s{1}}})
      .node("Unsqueeze", {"a"}, {"y"}, {{"axes", Int64s{1}}})
      .output("y");
  EXPECT_TRUE(small.apply(merge_reshapes));
  EXPECT_EQ(attribute_or(small.first("Unsqueeze"), "axes", Int64s{}), (Int64s{1, 2}));
}

}  // namespace
}  // namespace berth::models
