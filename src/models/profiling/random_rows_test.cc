#include "models/profiling/random_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace berth::models {
namespace {

using ::testing::HasSubstr;

TensorSignature input_of(std::string name, std::vector<std::int64_t> shape, TensorType type = TensorType::kFp32) {
  return {.name = std::move(name), .type = type, .shape = std::move(shape)};
}

RowSet rows_of(const std::vector<TensorSignature>& inputs, std::int64_t count) {
  return random_rows(inputs, count, Rng(1)).value();
}

TEST(RandomRows, AreAsManyAsWanted) {
  const RowSet rows = rows_of({input_of("x", {-1, 3}), input_of("ids", {-1, 2}, TensorType::kInt64)}, 5);
  EXPECT_EQ(rows.count, 5U);
  EXPECT_EQ(rows.inputs[0].bytes.size(), 5U * 3 * 4);
  EXPECT_EQ(rows.inputs[1].bytes.size(), 5U * 2 * 8);
  for (std::size_t i = 0; i < rows.inputs[1].bytes.size(); ++i) {
    EXPECT_LE(rows.inputs[1].bytes[i], i % 8 == 0 ? 1 : 0);  // the index of any table with two rows
  }
  EXPECT_EQ(rows, rows_of({input_of("x", {-1, 3}), input_of("ids", {-1, 2}, TensorType::kInt64)}, 5));
}

TEST(RandomRows, EveryTypeHasElements) {
  for (const TensorType type :
       {TensorType::kBool, TensorType::kUint8, TensorType::kInt8, TensorType::kInt16, TensorType::kUint32,
        TensorType::kFp16, TensorType::kBf16, TensorType::kFp32, TensorType::kFp64, TensorType::kBytes}) {
    const RowSet rows = rows_of({input_of("x", {-1, 64}, type)}, 4);
    const Tensor& tensor = rows.inputs[0];
    EXPECT_EQ(type == TensorType::kBytes ? tensor.texts.size() : tensor.bytes.size() / element_bytes(type), 256U);
    const std::set<char> bytes(tensor.bytes.begin(), tensor.bytes.end());
    if (type != TensorType::kBytes) {
      EXPECT_GT(bytes.size(), 1U);
    }
  }
}

TEST(RandomRows, AFixedFirstDimensionDecides) {
  const std::vector<TensorSignature> inputs = {input_of("x", {4, 3}), input_of("scale", {})};
  const RowSet rows = rows_of(inputs, 32);
  EXPECT_EQ(rows.count, 4U);
  EXPECT_EQ(fixed_rows(inputs, rows), 4U);
  EXPECT_EQ(rows.shared.size(), 1U);
}

TEST(RandomRows, DifferentFixedDimensionsMakeARunOfARow) {
  const std::vector<TensorSignature> inputs = {input_of("x", {4, 3}), input_of("state", {2, 4, 8})};
  const RowSet rows = rows_of(inputs, 32);
  EXPECT_TRUE(rows.rows_are_runs);
  EXPECT_EQ(fixed_rows(inputs, rows), 1U);
  EXPECT_EQ(batch_of(rows, 0, 1)[1].shape, (std::vector<std::int64_t>{2, 4, 8}));
}

TEST(RandomRows, WhatIsFixedNextToRowsIsShared) {
  const std::vector<TensorSignature> inputs = {input_of("x", {-1, 3}), input_of("table", {8, 3})};
  const RowSet rows = rows_of(inputs, 8);  // as many rows as the table has: one more is drawn
  EXPECT_EQ(fixed_rows(inputs, rows), std::nullopt);
  EXPECT_EQ(rows.shared[0].name, "table");
}

TEST(RandomRows, OtherSizesMustBeKnown) {
  const std::vector<TensorSignature> open = {input_of("x", {-1, -1})};
  EXPECT_THAT(random_rows(open, 1, Rng(1)).error().message, HasSubstr("--inputs"));
  const std::vector<TensorSignature> huge = {input_of("x", {-1, 1LL << 40})};
  EXPECT_THAT(random_rows(huge, 1, Rng(1)).error().message, HasSubstr("fit into memory"));
}

}  // namespace
}  // namespace berth::models
