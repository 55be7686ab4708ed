#include "base/core/index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <concepts>
#include <vector>

namespace berth {
namespace {

using Row = Index<struct RowTag>;
using Column = Index<struct ColumnTag>;

TEST(Index, OneKindDoesNotBecomeAnother) {
  static_assert(!std::convertible_to<Row, Column>);
  static_assert(!std::equality_comparable_with<Row, Column>);
  static_assert(std::convertible_to<Row, int>);
}

TEST(Index, CountsLikeAnInt) {
  Row row(2);
  EXPECT_EQ(row + 3, Row(5));
  EXPECT_EQ(row - 1, Row(1));
  EXPECT_EQ(Row(7) - row, 5);
  EXPECT_EQ(++row, Row(3));
  EXPECT_LT(Row(-1), row);
  EXPECT_EQ(std::vector<int>({4, 5, 6, 7})[row], 7);
  EXPECT_EQ(fmt::format("{}", row), "3");
}

TEST(Index, IndicesAreThoseOfTheElements) {
  std::vector<Row> rows;
  for (const Row row : indices_of<Row>(std::vector<char>(3))) rows.push_back(row);
  EXPECT_EQ(rows, (std::vector<Row>{Row(0), Row(1), Row(2)}));
  for (const Row row : Indices<Row>(0)) ADD_FAILURE() << row;
}

}  // namespace
}  // namespace berth
