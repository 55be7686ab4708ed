#include "surface/figures/figure_table.h"

#include <gtest/gtest.h>

namespace berth::figures {
namespace {

TEST(FigureTable, JsonHasTheColumnsWithAKeyAndNoRowsForPeople) {
  const FigureTable table{
      .columns = {{.key = "name", .heading = "name"}, {.heading = "only text"}, {.key = "cost"}, {.key = "share"}},
      .rows = {{.cells = {name_cell("a", true), {.text = "t"}, money_cell(1'500'000), {.value = 0.5}}},
               {.cells = {name_cell("bound", false), {}, money_cell(1), {}}, .is_only_for_people = true},
               {.cells = {name_cell("b", false), {}, {}, empty_cell()}, .is_ours = true}}};
  EXPECT_EQ(json::Value(json_rows(table)).to_line(),
            "[{\"name\":\"a\",\"cost\":1500000,\"share\":0.5},{\"name\":\"b\",\"cost\":null,\"share\":null}]\n");
}

TEST(FigureTable, CellsSayWhatPeopleRead) {
  EXPECT_EQ(count_cell(1'234'567).text, "1,234,567");
  EXPECT_EQ(money_cell(1'500'000).text, "$1.5000");
  EXPECT_EQ(name_cell("optimal", true).text, "optimal (hindsight)");
  EXPECT_EQ(name_cell("optimal", true).markup, "optimal *");
  EXPECT_EQ(name_cell("berth", false).markup, std::nullopt);
  EXPECT_EQ(Cell{}.text, std::nullopt);
  EXPECT_EQ(empty_cell().text, "");
}

TEST(FigureTable, AShareOfNothingIsZero) {
  EXPECT_EQ(share_of(1, 4), 0.25);
  EXPECT_EQ(share_of(1, 0), 0);
}

}  // namespace
}  // namespace berth::figures
