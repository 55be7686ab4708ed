#include "models/rows/row_set.h"

#include <gtest/gtest.h>

namespace berth::models {
namespace {

/// Three rows of two bytes and a text each, and a scalar.
RowSet three_rows() {
  return {.inputs = {{.name = "a", .type = TensorType::kUint8, .shape = {3, 2}, .bytes = "aAbBcC"},
                     {.name = "t", .type = TensorType::kBytes, .shape = {3, 1}, .texts = {"one", "two", "three"}}},
          .shared = {{.name = "s", .type = TensorType::kUint8, .shape = {}, .bytes = "S"}},
          .count = 3,
          .labels = {7, 8, 9}};
}

TEST(RowSet, ABatchRepeatsTheLastRow) {
  const auto batch = batch_of(three_rows(), 1, 4);
  ASSERT_EQ(batch.size(), 3U);
  EXPECT_EQ(batch[0].shape, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(batch[0].bytes, "bBcCcCcC");
  EXPECT_EQ(batch[1].texts, (std::vector<std::string>{"two", "three", "three", "three"}));
  EXPECT_EQ(batch[2], three_rows().shared[0]);
  EXPECT_EQ(batch_of(three_rows(), 9, 1)[0].bytes, "cC");
}

TEST(RowSet, SelectsInTheOrderOfTheIndices) {
  const std::vector<std::size_t> indices = {2, 0, 2};
  const RowSet selected = select_rows(three_rows(), indices);
  EXPECT_EQ(selected.count, 3U);
  EXPECT_EQ(selected.inputs[0].bytes, "cCaAcC");
  EXPECT_EQ(selected.labels, (std::vector<std::int64_t>{9, 7, 9}));
  const RowSet none = select_rows(three_rows(), {});
  EXPECT_EQ(none.count, 0U);
  EXPECT_EQ(none.inputs[0].shape, (std::vector<std::int64_t>{0, 2}));
}

TEST(RowSet, RowsMayBeWholeRuns) {
  RowSet rows = three_rows();
  EXPECT_EQ(fixed_rows({}, rows), std::nullopt);
  const std::vector<TensorSignature> inputs = {{.name = "s", .shape = {9}}, {.name = "a", .shape = {5, 2}}};
  EXPECT_EQ(fixed_rows(inputs, rows), 5U);
  rows.rows_are_runs = true;
  EXPECT_EQ(fixed_rows(inputs, rows), 1U);
  const auto run = batch_of(rows, 2, 1);
  EXPECT_EQ(run[0].shape, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(run[0].bytes, "cC");
  EXPECT_TRUE(select_rows(rows, {}).rows_are_runs);
}

TEST(RowSet, TakesTensorsWithoutElements) {
  const RowSet rows{.inputs = {{.name = "e", .type = TensorType::kFp32, .shape = {2, 0}}}, .count = 2};
  EXPECT_EQ(batch_of(rows, 0, 3)[0], (Tensor{.name = "e", .type = TensorType::kFp32, .shape = {3, 0}}));
}

}  // namespace
}  // namespace berth::models
