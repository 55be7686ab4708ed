#include "models/graph/numbers.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::models {
namespace {

TEST(Numbers, ComeBackFromEachFloatType) {
  const std::vector<double> values = {0, -1.5, 0.25, 1024};
  for (const ElementType type :
       {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16, ElementType::kBfloat16}) {
    const ConstantPtr constant = from_doubles(type, {2, 2}, values);
    EXPECT_EQ(constant->type, type);
    EXPECT_EQ(constant->dims, (Dims{2, 2}));
    EXPECT_EQ(to_doubles(*constant), values);
  }
}

TEST(Numbers, AreReadFromIntegers) {
  EXPECT_EQ(to_doubles(*int64s({2}, {-7, 9})), (std::vector<double>{-7, 9}));
  EXPECT_EQ(to_doubles(*int8s({2}, {-7, 9})), (std::vector<double>{-7, 9}));
  EXPECT_EQ(to_doubles(*uint8s({1}, {200})), (std::vector<double>{200}));
  EXPECT_EQ(to_doubles({.type = ElementType::kBool, .dims = {1}, .bytes = "\1"}), (std::vector<double>{1}));
}

TEST(Numbers, AreNotReadFromTexts) { EXPECT_FALSE(to_doubles({.type = ElementType::kString, .texts = {"a"}})); }

TEST(Numbers, RoundOnce) {
  const ConstantPtr constant = from_doubles(ElementType::kFloat, {}, {1.0 / 3});
  EXPECT_EQ(to_floats(*constant), (std::vector<float>{1.0F / 3}));
}

}  // namespace
}  // namespace berth::models
