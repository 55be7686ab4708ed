#include "models/fuse/gemm.h"

#include <gtest/gtest.h>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Int64s;
using testing::Names;
using testing::SmallModel;

/// x of these dimensions times w [3, 4], plus a constant. Whether it becomes Gemm.
bool becomes_gemm(const Int64s& dims, ConstantPtr bias) {
  SmallModel small;
  small.input("x", dims).weight("w", floats({3, 4}, std::vector<float>(12, 1))).weight("b", std::move(bias));
  small.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"b", "p"}, {"y"}).output("y");
  const bool is_changed = small.apply(make_gemm);
  if (is_changed) {
    EXPECT_EQ(small.ops(), Names{"Gemm"});
    EXPECT_EQ(small.first("Gemm").inputs, (Names{"x", "w", "b"}));
    EXPECT_EQ(small.first("Gemm").outputs, Names{"y"});
  }
  return is_changed;
}

TEST(MakeGemm, OfMatricesAndARow) {
  EXPECT_TRUE(becomes_gemm({-1, 3}, floats({4}, {1, 2, 3, 4})));
  EXPECT_TRUE(becomes_gemm({2, 3}, floats({1, 4}, {1, 2, 3, 4})));
  EXPECT_TRUE(becomes_gemm({2, 3}, floats({1}, {1})));
  EXPECT_FALSE(becomes_gemm({-1, 5, 3}, floats({4}, {1, 2, 3, 4})));
  EXPECT_FALSE(becomes_gemm({3}, floats({4}, {1, 2, 3, 4})));
  EXPECT_FALSE(becomes_gemm({1, 3}, floats({2, 4}, std::vector<float>(8)))) << "makes it larger";
  EXPECT_FALSE(becomes_gemm({1, 3}, floats({1, 1, 4}, std::vector<float>(4)))) << "adds a dimension";
}

TEST(MakeGemm, NotWhereTheProductIsUsed) {
  SmallModel small;
  small.input("x", {2, 3}).weight("w", floats({3, 1}, {1, 2, 3})).weight("b", floats({1}, {1}));
  small.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"p", "b"}, {"y"}).output("y").output("p");
  EXPECT_FALSE(small.apply(make_gemm));
}

TEST(MakeGemm, NotOfIntegers) {
  SmallModel small;
  small.input("x", {2, 3}, ElementType::kInt32).weight("w", int32s({3, 1}, {1, 2, 3})).weight("b", int32s({1}, {1}));
  small.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"p", "b"}, {"y"}).output("y");
  EXPECT_FALSE(small.apply(make_gemm));
}

}  // namespace
}  // namespace berth::models
