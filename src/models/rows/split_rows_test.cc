#include "models/rows/split_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth::models {
namespace {

TEST(SplitRows, EachRowIsInOneHalf) {
  for (const std::size_t count : {2U, 3U, 10U, 101U}) {
    const RowHalves halves = split_rows(count, 1).value();
    EXPECT_EQ(halves.choosing.size(), count / 2);
    std::vector<std::size_t> all = halves.choosing;
    all.insert(all.end(), halves.judging.begin(), halves.judging.end());
    std::ranges::sort(all);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(all.at(i), i);
    EXPECT_TRUE(std::ranges::is_sorted(halves.choosing) && std::ranges::is_sorted(halves.judging));
  }
}

TEST(SplitRows, TheSeedDecides) {
  EXPECT_EQ(split_rows(100, 7).value(), split_rows(100, 7).value());
  EXPECT_NE(split_rows(100, 7).value(), split_rows(100, 8).value());
  EXPECT_FALSE(split_rows(1, 1));
  EXPECT_FALSE(split_rows(0, 1));
}

RowSet bytes_and_texts(const std::string& bytes, std::vector<std::string> texts) {
  const std::size_t count = texts.size();
  return {.inputs = {{.name = "a",
                      .type = TensorType::kUint8,
                      .shape = {static_cast<std::int64_t>(count), 2},
                      .bytes = bytes},
                     {.name = "t",
                      .type = TensorType::kBytes,
                      .shape = {static_cast<std::int64_t>(count)},
                      .texts = std::move(texts)}},
          .count = count};
}

TEST(RowsNotIn, LeavesOutEqualRows) {
  const RowSet rows = bytes_and_texts("aabbaacc", {"x", "y", "x", "z"});
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(rows_not_in(rows, bytes_and_texts("ddaa", {"x", "x"})), (Indices{1, 3}));
  EXPECT_EQ(rows_not_in(rows, bytes_and_texts("aabb", {"y", "x"})), (Indices{0, 1, 2, 3})) << "only parts are equal";
  EXPECT_EQ(rows_not_in(rows, rows), Indices{});
  RowSet other = rows;
  other.shared = {{.name = "s"}};
  EXPECT_EQ(rows_not_in(rows, other).size(), 4U);
}

}  // namespace
}  // namespace berth::models
