#include "base/core/decimal.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

Decimal parsed(std::string_view text) { return Decimal::parse(text).value(); }

TEST(Decimal, ReadsWhatIsANumber) {
  const std::vector<std::pair<std::string_view, Decimal>> cases = {
      {"12", Decimal(12)},
      {"-0.5", Decimal(-1, 2)},
      {"+4.", Decimal(4)},
      {".25", Decimal(1, 4)},
      {"0.1", Decimal(1, 10)},
      {"1e-3", Decimal(1, 1000)},
      {"1.5E2", Decimal(150)},
      {"2e+1", Decimal(20)},
      {"1e30", parsed("1000000000000000000000000000000")},
      {"-0", Decimal(0)},
      {"007", Decimal(7)},
      {"0.0000000000000000000000000000000000001", parsed("1e-19") * parsed("1e-18")},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(parsed(text), wanted) << text;
}

TEST(Decimal, RefusesTheRestAndShowsIt) {
  for (const std::string_view text :
       {"",      " 1",     "1 ",    "+",    "-",   ".",   "e3",  "1e",  "1e+",   "1e31",
        "1e-31", "1e0001", "1.2.3", "0x10", "inf", "nan", "1,5", "--1", "1e3.0", "1_000"}) {
    const auto result = Decimal::parse(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().message, "wanted a number, found \"" + std::string(text) + "\"");
  }
}

TEST(Decimal, RefusesLongText) {
  const std::string digits(40, '9');
  EXPECT_EQ(parsed(digits).to_string(), digits);
  const auto result = Decimal::parse(digits + "8");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "wanted a number, found \"" + digits + "\"...");
}

TEST(Decimal, WhatADoubleCannotHold) {
  EXPECT_EQ(parsed("0.1") + parsed("0.2"), parsed("0.3"));
  EXPECT_EQ(parsed("0.45") * Decimal(100), Decimal(45));
  EXPECT_LT(parsed("44.999999999999999999999999"), parsed("0.45") * Decimal(100));
  EXPECT_EQ(Decimal(1) / Decimal(3) * Decimal(3), Decimal(1));
}

TEST(Decimal, RoundsTiesUp) {
  const std::vector<std::pair<std::string_view, std::int64_t>> cases = {{"0.5", 1},     {"1.5", 2},       {"2.5", 3},
                                                                        {"-0.5", 0},    {"-1.5", -1},     {"-2.5", -2},
                                                                        {"0.49999", 0}, {"-0.50001", -1}, {"7", 7}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(parsed(text).round_half_up(), wanted) << text;
}

TEST(Decimal, RoundsTiesToEven) {
  const std::vector<std::pair<std::string_view, std::int64_t>> cases = {
      {"0.5", 0},   {"1.5", 2},    {"2.5", 2},    {"3.5", 4},    {"-0.5", 0},     {"-1.5", -2},    {"-2.5", -2},
      {"-3.5", -4}, {"0.4999", 0}, {"0.5001", 1}, {"2.5001", 3}, {"-2.5001", -3}, {"-2.4999", -2}, {"8", 8}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(parsed(text).round_half_even(), wanted) << text;
}

TEST(Decimal, FloorGoesDown) {
  EXPECT_EQ(parsed("1.9").floor(), 1);
  EXPECT_EQ(parsed("-1.1").floor(), -2);
  EXPECT_EQ(parsed("-2").floor(), -2);
}

TEST(Decimal, ShowsDecimalsInFullAndOthersAsFractions) {
  for (const std::string_view text :
       {"0", "0.45", "-0.05", "12", "1000000", "-3.125", "0.000000000000000000000000000001"}) {
    EXPECT_EQ(parsed(text).to_string(), text);
  }
  EXPECT_EQ(parsed("1.500").to_string(), "1.5");
  EXPECT_EQ(parsed("1e3").to_string(), "1000");
  EXPECT_EQ(Decimal(1, 3).to_string(), "1/3");
  EXPECT_EQ(Decimal(-22, 7).to_string(), "-22/7");
}

TEST(Decimal, KnowsWhatFits) {
  EXPECT_TRUE(parsed("4611686018427387903.5").fits_int64());
  EXPECT_FALSE(parsed("4611686018427387904").fits_int64());
  EXPECT_FALSE(parsed("-4611686018427387904").fits_int64());
  EXPECT_TRUE(Decimal(5).is_integer());
  EXPECT_FALSE(parsed("5.1").is_integer());
  EXPECT_EQ(parsed("-5.1").sign(), -1);
  EXPECT_EQ(Decimal().sign(), 0);
}

TEST(Decimal, CommonIntegersKeepProportions) {
  using Integers = std::vector<Int128>;
  const auto common = [](std::vector<Decimal> values) { return Decimal::to_common_integers(values); };
  EXPECT_EQ(common({parsed("0.5"), parsed("0.75")}), (Integers{2, 3}));
  EXPECT_EQ(common({parsed("-1.5"), Decimal(0), Decimal(3)}), (Integers{-1, 0, 2}));
  EXPECT_EQ(common({parsed("74.408") * Decimal(3), parsed("223.224")}), (Integers{1, 1}));
  EXPECT_EQ(common({Decimal(0), Decimal(0)}), (Integers{0, 0}));
  EXPECT_EQ(common({}), Integers{});
  EXPECT_EQ(common({Decimal(1), parsed("1e20")}), (Integers{1, Int128{10'000'000'000} * 10'000'000'000}));
  EXPECT_EQ(common({parsed("1e-20"), parsed("1e20")}), std::nullopt);
}

using DecimalDeathTest = ::testing::Test;

TEST(DecimalDeathTest, EndsWhereAnAnswerWouldBeWrong) {
  EXPECT_DEATH(static_cast<void>(Decimal(1) / Decimal(0)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Decimal(1, 0)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(Decimal(1, -2)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(parsed("1e30").round_half_up()), "broken invariant");
}

}  // namespace
}  // namespace berth
