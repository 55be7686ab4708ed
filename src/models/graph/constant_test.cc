#include "models/graph/constant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/tensors.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;

TEST(Constant, HoldsItsElements) {
  EXPECT_THAT(to_floats(*floats({2, 1}, {1.5F, -2})), ElementsAre(1.5F, -2));
  EXPECT_THAT(to_int64s(*int64s({2}, {-1, 1LL << 40})), ElementsAre(-1, 1LL << 40));
  EXPECT_EQ(int32s({1}, {-2})->bytes, "\xfe\xff\xff\xff");
  EXPECT_EQ(int8s({2}, {-1, 1})->bytes, "\xff\x01");
  EXPECT_EQ(uint8s({1}, {255})->bytes, "\xff");
  EXPECT_EQ(float_scalar(1)->dims, Dims());
  EXPECT_TRUE(to_floats(*floats({0, 3}, {})).empty());
}

TEST(Constant, CountsElementsAndBytes) {
  EXPECT_EQ(count_of({}), 1);
  EXPECT_EQ(count_of({3, 4}), 12);
  EXPECT_EQ(count_of({1LL << 40, 0, 1LL << 40}), 0);
  EXPECT_EQ(byte_size(ElementType::kFloat16, {3}), 6U);
  EXPECT_EQ(byte_size(ElementType::kInt4, {3}), 2U);
  EXPECT_EQ(byte_size(ElementType::kUint2, {5}), 2U);
  EXPECT_EQ(byte_size(ElementType::kFloat6E2m3, {5}), 4U);
  EXPECT_EQ(byte_size(ElementType::kString, {5}), 0U);
}

TEST(ConstantDeathTest, RequiresAsManyElementsAsItsShape) {
  EXPECT_DEATH((void)floats({3}, {1, 2}), "count_of");
  EXPECT_DEATH((void)to_floats(*int8s({4}, {1, 2, 3, 4})), "type");
}

TEST(ElementType, HasNames) {
  EXPECT_EQ(name_of(ElementType::kBfloat16), "bfloat16");
  EXPECT_EQ(name_of(static_cast<ElementType>(99)), "type 99");
  EXPECT_EQ(element_bits(ElementType::kComplex128), 128);
  EXPECT_EQ(element_bits(static_cast<ElementType>(99)), 0);
}

TEST(Tensors, KeepEachTypeThatTheyHave) {
  for (std::int32_t i = 0; i < 40; ++i) {
    const auto type = static_cast<ElementType>(i);
    const std::optional<TensorType> tensor = tensor_type_of(type);
    if (tensor) {
      EXPECT_EQ(element_type_of(*tensor), type);
    }
  }
  EXPECT_FALSE(tensor_type_of(ElementType::kInt4));
  const Tensor tensor{.name = "x", .type = TensorType::kFp16, .shape = {2}, .bytes = "abcd"};
  EXPECT_EQ(tensor_of(constant_of(tensor), "x"), tensor);
  EXPECT_FALSE(tensor_of({.type = ElementType::kInt4}, "x"));
}

}  // namespace
}  // namespace berth::models
