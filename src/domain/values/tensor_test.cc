#include "domain/values/tensor.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(TensorType, HasANameInTheProtocolAndInConfigs) {
  for (int i = 0; i <= static_cast<int>(TensorType::kBytes); ++i) {
    const auto type = static_cast<TensorType>(i);
    EXPECT_EQ(tensor_type_named(name_of(type)), type) << name_of(type);
    EXPECT_EQ(tensor_type_of_config(config_name_of(type)), type) << name_of(type);
  }
  EXPECT_EQ(name_of(TensorType::kBf16), "BF16");
  EXPECT_EQ(name_of(TensorType::kBytes), "BYTES");
  EXPECT_EQ(config_name_of(TensorType::kBool), "TYPE_BOOL");
  EXPECT_EQ(config_name_of(TensorType::kBytes), "TYPE_STRING");
  for (const char* name : {"", "fp32", "FP32 ", "STRING", "TYPE_FP32"}) {
    EXPECT_EQ(tensor_type_named(name), std::nullopt) << name;
  }
  for (const char* name : {"", "FP32", "TYPE_BYTES"}) EXPECT_EQ(tensor_type_of_config(name), std::nullopt) << name;
}

}  // namespace
}  // namespace berth
