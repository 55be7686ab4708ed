#include "serving/service/tensor_wire.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace berth::serving {
namespace {

using namespace std::string_literals;

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

Tensor head_of(TensorType type, std::vector<std::int64_t> shape) {
  return {.name = "x", .type = type, .shape = std::move(shape)};
}

TEST(TensorWire, CountsElements) {
  struct Row {
    std::vector<std::int64_t> shape;
    std::optional<std::int64_t> count;
  };
  const std::vector<Row> rows = {
      {{}, 1},
      {{3}, 3},
      {{2, 3, 4}, 24},
      {{0}, 0},
      {{kInt64Max, 4, 0}, 0},
      {{kInt64Max}, kInt64Max},
      {{-1}, std::nullopt},
      {{0, -1}, std::nullopt},
      {{kInt64Max, 2}, std::nullopt},
      {{std::int64_t{1} << 32, std::int64_t{1} << 32}, std::nullopt},
  };
  for (const Row& row : rows) EXPECT_EQ(element_count(row.shape), row.count);
}

TEST(TensorWire, DataMustFitTheShape) {
  struct Row {
    Tensor head;
    std::string data;
    bool is_right;
  };
  const std::vector<Row> rows = {
      {head_of(TensorType::kFp32, {2}), "12345678", true},
      {head_of(TensorType::kFp32, {}), "1234", true},
      {head_of(TensorType::kFp32, {0, 7}), "", true},
      {head_of(TensorType::kFp32, {2}), "1234567", false},
      {head_of(TensorType::kFp32, {2}), "123456789012", false},
      {head_of(TensorType::kFp32, {-1}), "1234", false},
      {head_of(TensorType::kUint8, {kInt64Max, 2}), "1234", false},
      {head_of(TensorType::kFp64, {kInt64Max}), "", false},
      {head_of(TensorType::kBf16, {1}), "12", true},
      {head_of(TensorType::kBool, {2}), "\0\1"s, true},
      {head_of(TensorType::kBool, {2}), "\0\2"s, false},
      {head_of(TensorType::kBytes, {0}), "", true},
      {head_of(TensorType::kBytes, {1}), "\0\0\0\0"s, true},
      {head_of(TensorType::kBytes, {1}), "\0\0\0"s, false},
      {head_of(TensorType::kBytes, {1}), "\2\0\0\0a"s, false},
      {head_of(TensorType::kBytes, {1}), "\1\0\0\0ab"s, false},
      {head_of(TensorType::kBytes, {1}), "\xFF\xFF\xFF\xFF"s, false},
      {head_of(TensorType::kBytes, {2}), "\1\0\0\0a"s, false},
  };
  for (const Row& row : rows) {
    const auto tensor = tensor_of_binary(row.head, row.data);
    ASSERT_EQ(tensor.has_value(), row.is_right) << tensor_label(row.head) << ' ' << row.data.size();
    if (row.is_right) {
      EXPECT_EQ(binary_of(*tensor), row.data);
    } else {
      EXPECT_EQ(tensor.error().fault, ServeFault::kMalformed);
    }
  }
}

TEST(TensorWire, Texts) {
  const auto tensor = tensor_of_binary(head_of(TensorType::kBytes, {2}), "\2\0\0\0ab\1\0\0\0c"s);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->texts, (std::vector<std::string>{"ab", "c"}));
  const auto many = tensor_of_binary(head_of(TensorType::kBytes, {kTextCountMax + 1}), "");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().fault, ServeFault::kTooLarge);
}

TEST(TensorWire, SaysWhatIsWrong) {
  const auto tensor = tensor_of_binary(head_of(TensorType::kFp32, {2, 3}), "1");
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().message, "tensor \"x\" of FP32 with the shape [2,3]: wanted 6 x 4 bytes, found 1 bytes");
}

}  // namespace
}  // namespace berth::serving
