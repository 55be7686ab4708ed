#include "ledger/billing/csv.h"

#include <gtest/gtest.h>

namespace berth::ledger {
namespace {

TEST(CsvRow, JoinsItsFields) {
  EXPECT_EQ(csv_row({"a", "", "b c", "-1.5"}), "a,,b c,-1.5\n");
  EXPECT_EQ(csv_row({""}), "\n");
  EXPECT_EQ(csv_row({}), "\n");
}

TEST(CsvRow, QuotesWhatWouldEndAField) {
  EXPECT_EQ(csv_row({"a,b", "c"}), "\"a,b\",c\n");
  EXPECT_EQ(csv_row({R"(say "x")", R"(")"}), "\"say \"\"x\"\"\",\"\"\"\"\n");
  EXPECT_EQ(csv_row({"a\nb", "a\rb", "a\tb"}), "\"a\nb\",\"a\rb\",a\tb\n");
  EXPECT_EQ(csv_row({R"({"service":"chat","role":"job"})"}),
            "\"{\"\"service\"\":\"\"chat\"\",\"\"role\"\":\"\"job\"\"}\"\n");
}

TEST(DecimalOf, HasAllItsDecimals) {
  EXPECT_EQ(decimal_of(0, 6), "0.000000");
  EXPECT_EQ(decimal_of(1, 6), "0.000001");
  EXPECT_EQ(decimal_of(-1, 6), "-0.000001");
  EXPECT_EQ(decimal_of(12'345'678, 6), "12.345678");
  EXPECT_EQ(decimal_of(-12'345'678, 6), "-12.345678");
  EXPECT_EQ(decimal_of(1'000'000, 6), "1.000000");
  EXPECT_EQ(decimal_of(5, 1), "0.5");
  EXPECT_EQ(decimal_of(1'000'000'001, 9), "1.000000001");
  EXPECT_EQ(decimal_of(Int128{10'000'000'000'000} * 10'000'000'000'000, 6), "100000000000000000000.000000");
}

}  // namespace
}  // namespace berth::ledger
