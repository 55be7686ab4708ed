#include "purchase/spot/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::purchase {
namespace {

using ::testing::HasSubstr;

std::string line(const std::string& series, const std::string& window, const std::string& ticks, int gap = 600) {
  return R"({"series": ")" + series + R"(", "window": ")" + window + R"(", "gap_seconds": )" + std::to_string(gap) +
         R"(, "unavailable": ")" + ticks + "\"}\n";
}

std::string refusal(const std::string& text) {
  const auto windows = read_windows(text, "w.jsonl");
  return windows ? "" : windows.error().message;
}

TEST(Windows, OneIsATickWithoutSpot) {
  const auto windows = read_windows(line("a", "1", "010") + line("b", "1", "111"), "w.jsonl");
  ASSERT_TRUE(windows.has_value()) << windows.error().message;
  ASSERT_EQ(windows->size(), 2U);
  const Market& first = windows->front();
  EXPECT_TRUE(first.has(0, 0));
  EXPECT_FALSE(first.has(0, 1));
  EXPECT_TRUE(first.has(0, 2));
  EXPECT_FALSE(first.has(0, 3));  // after its end
  EXPECT_EQ(first.tick_seconds, 600);
}

TEST(Windows, RefusalsSayWhere) {
  EXPECT_THAT(refusal(line("a", "1", "01") + line("a", "2", "012")),
              HasSubstr("w.jsonl:2:67: unavailable: wanted 0 and 1 only, found \"2\" as character 3"));
  EXPECT_THAT(refusal(line("a", "1", "01") + line("a", "1", "00")),
              HasSubstr("w.jsonl:2:1: wanted each window of a series once"));
  EXPECT_THAT(refusal(line("a", "1", "01", 0)), HasSubstr("gap_seconds: wanted a whole number from 1"));
  EXPECT_THAT(refusal(R"({"series": "a", "window": "1", "gap_seconds": 600, "unavailable": "01", "gap_second": 60})"),
              HasSubstr("w.jsonl:1:73: unknown key \"gap_second\"; did you mean gap_seconds?"));
  EXPECT_THAT(refusal("{}\n"), HasSubstr("w.jsonl:1:1: series: wanted"));
  EXPECT_THAT(refusal("nothing\n"), HasSubstr("w.jsonl:1:"));
  EXPECT_THAT(refusal(""), HasSubstr("wanted at least one window, found none"));
  EXPECT_THAT(refusal(line("a", "1", "0") + "\n" + line("b", "1", "0")), HasSubstr("w.jsonl:2:"));
}

TEST(Windows, ZonesOfOneWindowAreOneMarket) {
  const auto windows = read_windows(
      line("a", "1", "01") + line("a", "2", "00") + line("b", "1", "10") + line("c", "2", "11"), "w.jsonl");
  ASSERT_TRUE(windows.has_value());
  const auto markets = join_zones(*windows, "w.jsonl");
  ASSERT_TRUE(markets.has_value());
  ASSERT_EQ(markets->size(), 2U);
  EXPECT_EQ((*markets)[0].series, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE((*markets)[0].has(0, 0));
  EXPECT_FALSE((*markets)[0].has(1, 0));
  EXPECT_TRUE((*markets)[0].is_joined);
  EXPECT_EQ((*markets)[1].series, (std::vector<std::string>{"a", "c"}));
}

TEST(Windows, ZonesOfOneWindowHaveOneGapAndLength) {
  for (const std::string& other : {line("b", "1", "010"), line("b", "1", "01", 300)}) {
    const auto windows = read_windows(line("a", "1", "01") + other, "w.jsonl");
    ASSERT_TRUE(windows.has_value());
    const auto markets = join_zones(*windows, "w.jsonl");
    ASSERT_FALSE(markets.has_value());
    EXPECT_THAT(markets.error().message, HasSubstr("wanted zones of one window with equal gaps and lengths"));
  }
}

}  // namespace
}  // namespace berth::purchase
