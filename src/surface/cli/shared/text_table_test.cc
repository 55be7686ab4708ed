#include "surface/cli/shared/text_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::cli {
namespace {

TEST(TextTable, NumbersHaveSeparators) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(-1234567), "-1,234,567");
}

TEST(TextTable, DollarsHaveEnoughDigits) {
  EXPECT_EQ(dollars(0), "$0.000000");
  EXPECT_EQ(dollars(1), "$0.000001");
  EXPECT_EQ(dollars(2'448'667), "$2.4487");
  EXPECT_EQ(dollars(88'152'123'456), "$88,152.12");
}

TEST(TextTable, FiguresHaveThreeSignificantDigits) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(0.0124), "0.012");
  EXPECT_EQ(significant(0.99999), "1.00");
  EXPECT_EQ(significant(12.345), "12.3");
  EXPECT_EQ(significant(99.99), "100");
  EXPECT_EQ(significant(12345.6), "12,346");
  EXPECT_EQ(percent(0.98765), "98.77%");
}

TEST(TextTable, ColumnsAreAlignedWithoutSpacesAtTheEnd) {
  const std::vector<std::string> expected = {"a       b", "long  123", "x"};
  EXPECT_EQ(aligned({{"a", "b"}, {"long", "123"}, {"x", ""}}), expected);
}

TEST(TextTable, LongTextIsBrokenAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 8), "one two\n  three");
  EXPECT_EQ(wrapped("incredibly long", 4), "incredibly\n  long");
  EXPECT_EQ(wrapped("a\nb\x1b", 10), "a?b?");
  EXPECT_EQ(wrapped("", 10), "");
}

}  // namespace
}  // namespace berth::cli
