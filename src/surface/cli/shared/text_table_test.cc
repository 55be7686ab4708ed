#include "surface/cli/shared/text_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::cli {
namespace {

TEST(TextTable, ColumnsAreAlignedWithoutSpacesAtTheEnd) {
  const std::vector<std::string> expected = {"a       b", "long  123", "x"};
  EXPECT_EQ(aligned({{"a", "b"}, {"long", "123"}, {"x", ""}}), expected);
}

TEST(TextTable, AllColumnsMayBeAlignedToTheLeftWithAGap) {
  const std::vector<std::string> expected = {"a      b     c", "long   123   é", "x"};
  EXPECT_EQ(aligned({{"a", "b", "c"}, {"long", "123", "é"}, {"x", "", ""}}, {.gap = 3, .is_all_to_left = true}),
            expected);
}

TEST(TextTable, FiguresHaveTheColumnsWithAHeading) {
  const figures::FigureTable table{
      .columns = {{.key = "policy", .heading = "policy"}, {.key = "only_json"}, {.heading = "cost"}},
      .rows = {{.cells = {{.text = "berth"}, {.text = "no"}, {.text = "10"}}, .is_ours = true},
               {.cells = {{.text = "b"}, {}, {}}},
               {.cells = {{.text = "bound"}, {}, figures::empty_cell()}, .is_only_for_people = true}}};
  EXPECT_EQ(figures_text(table, false), "policy  cost\nberth     10\nb          -\nbound\n");
  EXPECT_EQ(figures_text(table, true),
            "\033[2mpolicy  cost\033[0m\n\033[1mberth     10\033[0m\n\033[mb          -\033[0m\n\033[mbound\033[0m\n");
}

TEST(TextTable, LongTextIsBrokenAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 8), "one two\n  three");
  EXPECT_EQ(wrapped("incredibly long", 4), "incredibly\n  long");
  EXPECT_EQ(wrapped("a\nb\x1b", 10), "a?b?");
  EXPECT_EQ(wrapped("", 10), "");
}

}  // namespace
}  // namespace berth::cli
