#include "base/core/figure_text.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(FigureText, NumbersHaveSeparators) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(-1234567), "-1,234,567");
}

TEST(FigureText, DollarsHaveEnoughDigits) {
  EXPECT_EQ(dollars(0), "$0.000000");
  EXPECT_EQ(dollars(1), "$0.000001");
  EXPECT_EQ(dollars(2'448'667), "$2.4487");
  EXPECT_EQ(dollars(88'152'123'456), "$88,152.12");
}

TEST(FigureText, FiguresHaveThreeSignificantDigits) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(0.0124), "0.012");
  EXPECT_EQ(significant(0.99999), "1.00");
  EXPECT_EQ(significant(12.345), "12.3");
  EXPECT_EQ(significant(99.99), "100");
  EXPECT_EQ(significant(12345.6), "12,346");
  EXPECT_EQ(percent(0.98765), "98.77%");
}

TEST(FigureText, DecimalsAreRoundedHalfToEven) {
  EXPECT_EQ(with_digits(Decimal(1'015, 100), 1), "10.2");
  EXPECT_EQ(with_digits(Decimal(1'025, 100), 1), "10.2");
  EXPECT_EQ(with_digits(Decimal(-2, 3), 4), "-0.6667");
  EXPECT_EQ(with_digits(Decimal(9'999, 1'000), 2), "10.00");
}

}  // namespace
}  // namespace berth
