#include "models/fuse/transposes.h"

#include <gtest/gtest.h>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Int64s;
using testing::Names;
using testing::SmallModel;

TEST(MergeTransposes, OneAfterAnother) {
  SmallModel small;
  small.input("x", {2, 3, 4, 5})
      .node("Transpose", {"x"}, {"a"}, {{"perm", Int64s{0, 2, 1, 3}}})
      .node("Transpose", {"a"}, {"y"}, {{"perm", Int64s{0, 1, 3, 2}}})
      .output("y");
  EXPECT_TRUE(small.apply(merge_transposes));
  EXPECT_EQ(small.ops(), Names{"Transpose"});
  EXPECT_EQ(attribute_or(small.first("Transpose"), "perm", Int64s{}), (Int64s{0, 2, 3, 1}));
}

TEST(MergeTransposes, WithoutAnOrder) {
  SmallModel small;
  small.input("x", {2, 3, 4})
      .shape("a", {3, 2, 4})
      .node("Transpose", {"x"}, {"a"}, {{"perm", Int64s{1, 0, 2}}})
      .node("Transpose", {"a"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(merge_transposes));
  EXPECT_EQ(attribute_or(small.first("Transpose"), "perm", Int64s{}), (Int64s{2, 0, 1}));
}

TEST(MergeTransposes, KeepsTheFirstForItsOtherUses) {
  SmallModel small;
  small.input("x", {2, 3})
      .node("Transpose", {"x"}, {"a"}, {{"perm", Int64s{1, 0}}})
      .node("Transpose", {"a"}, {"y"}, {{"perm", Int64s{1, 0}}})
      .node("Relu", {"a"}, {"z"})
      .output("y")
      .output("z");
  EXPECT_TRUE(small.apply(merge_transposes));
  EXPECT_EQ(small.ops(), (Names{"Transpose", "Transpose", "Relu"}));
}

TEST(TransposeInGemm, BecomesAFlag) {
  SmallModel small;
  small.input("x", {2, 3}).input("z", {4, 2});
  small.node("Transpose", {"x"}, {"a"}, {{"perm", Int64s{1, 0}}})
      .node("Transpose", {"z"}, {"b"}, {{"perm", Int64s{1, 0}}})
      .node("Gemm", {"a", "b"}, {"y"}, {{"transA", std::int64_t{1}}})
      .output("y");
  EXPECT_TRUE(small.apply(transpose_in_gemm));
  EXPECT_EQ(small.ops(), Names{"Gemm"});
  const Node& gemm = small.first("Gemm");
  EXPECT_EQ(gemm.inputs, (Names{"x", "z"}));
  EXPECT_EQ(attribute_or(gemm, "transA", std::int64_t{7}), 0);
  EXPECT_EQ(attribute_or(gemm, "transB", std::int64_t{7}), 1);
}

}  // namespace
}  // namespace berth::models
