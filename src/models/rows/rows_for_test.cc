#include "models/rows/rows_for.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace berth::models {
namespace {

using Sizes = std::vector<std::int64_t>;

std::size_t count_of_sizes(const Sizes& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return count;
}

Tensor array(const std::string& name, const Sizes& shape, TensorType type = TensorType::kFp32) {
  return {.name = name,
          .type = type,
          .shape = shape,
          .bytes = std::string(count_of_sizes(shape) * element_bytes(type), '\0')};
}

Tensor labels(const std::vector<std::int64_t>& values) {
  Tensor label = array("label", {static_cast<std::int64_t>(values.size())}, TensorType::kInt64);
  std::memcpy(label.bytes.data(), values.data(), label.bytes.size());
  return label;
}

const std::vector<TensorSignature> kTwo = {{.name = "x", .shape = {-1, 3}},
                                           {.name = "n", .type = TensorType::kInt64, .shape = {-1}}};

std::string message_of(const std::vector<TensorSignature>& inputs, std::vector<Tensor> arrays) {
  const auto rows = rows_for(inputs, std::move(arrays), "d.npz");
  return rows ? "no error" : rows.error().message;
}

TEST(RowsFor, PutsArraysInTheOrderOfTheInputs) {
  const auto rows =
      rows_for(kTwo, {array("n", {4}, TensorType::kInt64), labels({3, 2, 1, 0}), array("x", {4, 3})}, "d");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->count, 4U);
  EXPECT_EQ(rows->inputs, (std::vector<Tensor>{array("x", {4, 3}), array("n", {4}, TensorType::kInt64)}));
  EXPECT_EQ(rows->labels, (std::vector<std::int64_t>{3, 2, 1, 0}));
  EXPECT_TRUE(rows->shared.empty());
  EXPECT_FALSE(rows->rows_are_runs);
}

TEST(RowsFor, NamesMissingAndUnknownArrays) {
  EXPECT_EQ(message_of(kTwo, {array("x", {4, 3}), array("y", {4})}),
            "d.npz: wanted an array for the input \"n\", found only others: \"y\"");
  EXPECT_EQ(message_of(kTwo, {}), "d.npz: wanted an array for the input \"x\", found none");
  EXPECT_EQ(message_of(kTwo, {array("x", {4, 3}), array("n", {4}, TensorType::kInt64), array("y", {4})}),
            "d.npz: wanted arrays for the inputs \"x\", \"n\" (and label), found \"y\"");
}

TEST(RowsFor, NamesWrongTypesAndShapes) {
  EXPECT_EQ(message_of(kTwo, {array("x", {4, 3}, TensorType::kFp64), array("n", {4}, TensorType::kInt64)}),
            "d.npz: \"x\": wanted elements of the type FP32, found FP64");
  EXPECT_EQ(message_of(kTwo, {array("x", {4, 5}), array("n", {4}, TensorType::kInt64)}),
            "d.npz: \"x\": wanted the shape [4, 3] (the model's is [-1, 3]), found [4, 5]");
  EXPECT_EQ(message_of(kTwo, {array("x", {4, 3}), array("n", {5}, TensorType::kInt64)}),
            "d.npz: \"n\": wanted the shape [4] (the model's is [-1]), found [5]");
  EXPECT_EQ(message_of(kTwo, {array("x", {4, 3}), array("n", {}, TensorType::kInt64)}),
            "d.npz: \"n\": wanted the shape [4] (the model's is [-1]), found []");
  EXPECT_EQ(message_of(kTwo, {array("x", {0, 3}), array("n", {0}, TensorType::kInt64)}),
            "d.npz: wanted rows, found none");
}

TEST(RowsFor, SharesWhatHasNoRows) {
  const std::vector<TensorSignature> inputs = {
      {.name = "rate", .type = TensorType::kInt64}, {.name = "x", .shape = {-1, 3}}, {.name = "mean", .shape = {1, 3}}};
  const auto rows =
      rows_for(inputs, {array("x", {4, 3}), array("mean", {1, 3}), array("rate", {}, TensorType::kInt64)}, "d");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->inputs.size(), 1U);
  EXPECT_EQ(rows->shared.size(), 2U);
  EXPECT_EQ(fixed_rows(inputs, *rows), std::nullopt);
  const auto each =
      rows_for(inputs, {array("x", {4, 3}), array("mean", {4, 3}), array("rate", {}, TensorType::kInt64)}, "d");
  ASSERT_TRUE(each) << each.error().message;
  EXPECT_EQ(each->inputs.size(), 2U);
  EXPECT_EQ(fixed_rows(inputs, *each), 1U);
}

TEST(RowsFor, TakesModelsWithAFixedNumberOfRows) {
  const std::vector<TensorSignature> inputs = {{.name = "x", .shape = {8, 3}}};
  const auto rows = rows_for(inputs, {array("x", {20, 3})}, "d");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->count, 20U);
  EXPECT_EQ(fixed_rows(inputs, *rows), 8U);
  const std::vector<TensorSignature> two = {{.name = "x", .shape = {8, 3}}, {.name = "y", .shape = {4, 3}}};
  EXPECT_NE(message_of(two, {array("x", {20, 3}), array("y", {20, 3})}).find("found 8 and 4"), std::string::npos);
}

TEST(RowsFor, RowsMayBeRuns) {
  const std::vector<TensorSignature> inputs = {{.name = "x", .shape = {-1, 5}},
                                               {.name = "state", .shape = {2, -1, 4}},
                                               {.name = "rate", .type = TensorType::kInt64}};
  for (const Sizes& rate : {Sizes{}, Sizes{6}}) {
    const auto rows = rows_for(
        inputs, {array("x", {6, 1, 5}), array("state", {6, 2, 1, 4}), array("rate", rate, TensorType::kInt64)}, "d");
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_TRUE(rows->rows_are_runs);
    EXPECT_EQ(rows->count, 6U);
    EXPECT_EQ(rows->shared.size(), rate.empty() ? 1U : 0U);
    EXPECT_EQ(fixed_rows(inputs, *rows), 1U);
    EXPECT_EQ(batch_of(*rows, 0, 1)[1].shape, (Sizes{2, 1, 4}));
  }
  EXPECT_EQ(
      message_of(inputs, {array("x", {6, 1, 5}), array("state", {6, 3, 1, 4}), array("rate", {}, TensorType::kInt64)}),
      "d.npz: \"state\": wanted the shape [6, 2, -1, 4] (the model's is [2, -1, 4]), found [6, 3, 1, 4]");
  EXPECT_NE(message_of(inputs, {array("x", {6, 5}), array("state", {2, 6, 4}), array("rate", {}, TensorType::kInt64)}),
            "no error");
}

TEST(RowsFor, NamesTheRowThatIsNoNumber) {
  Tensor x = array("x", {4, 3});
  const float nan = -std::numeric_limits<float>::quiet_NaN();
  const float infinite = -std::numeric_limits<float>::infinity();
  std::memcpy(x.bytes.data(), &infinite, sizeof(infinite));
  EXPECT_EQ(message_of(kTwo, {x, array("n", {4}, TensorType::kInt64)}), "no error");
  std::memcpy(x.bytes.data() + std::size_t{8} * sizeof(float), &nan, sizeof(nan));
  EXPECT_EQ(message_of(kTwo, {x, array("n", {4}, TensorType::kInt64)}),
            "d.npz: \"x\": wanted numbers, found NaN in row 2");
  for (const auto& [type, bits] : std::vector<std::pair<TensorType, std::uint64_t>>{
           {TensorType::kFp16, 0x7C01}, {TensorType::kBf16, 0xFFC0}, {TensorType::kFp64, 0x7FF0000000000001}}) {
    Tensor one = array("v", {1}, type);
    std::memcpy(one.bytes.data(), &bits, one.bytes.size());
    const std::vector<TensorSignature> inputs = {{.name = "v", .type = type, .shape = {-1}}};
    EXPECT_NE(message_of(inputs, {one}).find("NaN in row 0"), std::string::npos) << name_of(type);
    one.bytes.back() = '\x7C';
    one.bytes.front() = '\0';
  }
}

TEST(RowsFor, RefusesOtherLabels) {
  const auto with = [](Tensor label) {
    return message_of({{.name = "x", .shape = {-1}}}, {array("x", {2}), std::move(label)});
  };
  EXPECT_EQ(with(labels({0, 1})), "no error");
  EXPECT_EQ(with(array("label", {2, 1}, TensorType::kUint8)), "no error");
  EXPECT_EQ(with(array("label", {2}, TensorType::kFp32)),
            "d.npz: label: wanted integers, found elements of the type FP32");
  EXPECT_EQ(with(labels({0, 1, 2})), "d.npz: label: wanted an integer for each of the 2 rows, found the shape [3]");
  EXPECT_EQ(with(array("label", {1, 2}, TensorType::kUint8)),
            "d.npz: label: wanted an integer for each of the 2 rows, found the shape [1, 2]");
  EXPECT_EQ(with(labels({0, -1})), "d.npz: label: wanted integers from 0 on, found -1 in row 1");
  const std::vector<TensorSignature> own = {{.name = "label", .shape = {-1}}};
  EXPECT_EQ(rows_for(own, {array("label", {2})}, "d").value().inputs.size(), 1U) << "an input of that name";
}

}  // namespace
}  // namespace berth::models
