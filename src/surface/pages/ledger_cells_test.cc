#include "surface/pages/ledger_cells.h"

#include <gtest/gtest.h>

namespace berth::report {
namespace {

TEST(LedgerCells, NamesCannotDisturbWhatStandsBesideThem) {
  EXPECT_EQ(isolated("acme"), "acme");
  EXPECT_EQ(isolated("a\tb\x7F"), "\u2068a\uFFFDb\uFFFD\u2069");
  EXPECT_EQ(isolated("\u202Eexe.png"), "\u2068\uFFFDexe.png\u2069");  // from right to left
  EXPECT_EQ(isolated("a\u2069\u2066"), "\u2068a\uFFFD\uFFFD\u2069");
  EXPECT_EQ(isolated("\u0085"), "\u2068\uFFFD\u2069");
  EXPECT_EQ(isolated("שלום"), "\u2068שלום\u2069");
  EXPECT_EQ(isolated("\u2030"), "\u2068\u2030\u2069");  // not a control character, though it begins like one
  EXPECT_EQ(isolated("  "), "\u2068“  ”\u2069");
  EXPECT_EQ(name_markup("<b>&\""), "<bdi>&lt;b&gt;&amp;&quot;</bdi>");
}

TEST(LedgerCells, MoneyIsExactOrRoundedHalfToEven) {
  EXPECT_EQ(exact_money(-1'234'500'000), R"(<data value="-1234.500000">−1,234.500000</data>)");
  EXPECT_EQ(exact_money(Int128{1'000'000'000'000'000} * 1'000'000'000),
            R"(<data value="1000000000000000000.000000">1,000,000,000,000,000,000.000000</data>)");
  EXPECT_EQ(usd_text(1'234'565'000), "$1,234.56");
  EXPECT_EQ(usd_text(1'234'575'000), "$1,234.58");
  EXPECT_EQ(usd_text(-10'000), "−$0.01");
  EXPECT_EQ(usd_text(24), "$0.000024");
  EXPECT_EQ(usd_text(-9'999), "−$0.009999");
  EXPECT_EQ(usd_text(0), "$0.00");
}

TEST(LedgerCells, HoursSharesAndTimes) {
  EXPECT_EQ(gpu_hours_text(Int128{3'600'000'000} * 1'234 + 1'800'000'000, 2), "1,234.50");
  EXPECT_EQ(gpu_hours_text(-360'000, 4), "−0.0001");
  EXPECT_EQ(share_text(1, 3), "33.3\u00A0%");
  EXPECT_EQ(share_text(-76, 1000), "−7.6\u00A0%");
  EXPECT_EQ(share_text(1, 0), "–");
  EXPECT_EQ(utc_text(1'794'700'800'000'000), "2026-11-15 00:00");
  EXPECT_EQ(utc_text(1'794'700'861'000'007), "2026-11-15 00:01:01.000007");
  EXPECT_EQ(month_words(Month::of(1'794'700'800'000'000)), "November 2026");
}

}  // namespace
}  // namespace berth::report
