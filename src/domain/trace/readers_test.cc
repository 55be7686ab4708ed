#include "domain/trace/readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using testing::ElementsAre;

struct BadText {
  std::string text;
  std::string message;
};

std::vector<std::uint32_t> rps_counts(std::string_view text) {
  const auto trace = read_rps_text(text, "t.txt");
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  return trace ? trace->counts : std::vector<std::uint32_t>{};
}

std::vector<std::uint32_t> csv_counts(std::string_view text) {
  const auto trace = read_count_csv(text, "t.csv");
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  return trace ? trace->counts : std::vector<std::uint32_t>{};
}

TEST(ReadRpsText, TakesOneCountALine) {
  EXPECT_THAT(rps_counts("5\n0\n7"), ElementsAre(5, 0, 7));
  EXPECT_THAT(rps_counts("\xEF\xBB\xBF 5\r\n0 \r\n\t7\r\n"), ElementsAre(5, 0, 7));
  EXPECT_THAT(rps_counts("10000000\n \n\t\n\r\n"), ElementsAre(10'000'000));
  EXPECT_THAT(rps_counts("007\n"), ElementsAre(7));
}

TEST(ReadRpsText, SaysWhatIsWrong) {
  const std::string number = "wanted a whole number from 0 to 10000000, found ";
  const std::vector<BadText> cases = {
      {"", "t.txt:1:1: wanted at least one row, found none"},
      {"\n\n", "t.txt:1:1: wanted at least one row, found none"},
      {"\xEF\xBB\xBF", "t.txt:1:1: wanted at least one row, found none"},
      {"5\n\n7\n", "t.txt:2:1: wanted a row, found a blank line inside the file"},
      {" \n7\n", "t.txt:1:1: wanted a row, found a blank line inside the file"},
      {"5\n-1\n", "t.txt:2:1: " + number + "\"-1\""},
      {"5\n  1.5\n", "t.txt:2:3: " + number + "\"1.5\""},
      {"+5\n", "t.txt:1:1: " + number + "\"+5\""},
      {"5 6\n", "t.txt:1:1: " + number + "\"5 6\""},
      {"10000001\n", "t.txt:1:1: " + number + "\"10000001\""},
      {"99999999999999999999999\n", "t.txt:1:1: " + number + "\"99999999999999999999999\""},
      {std::string("\x1f\x8b\x08\x00\xff", 5), "t.txt:1:1: " + number + R"("\x1f?\x08\x00?")"},
      {std::string(1'000'000, 'x'), "t.txt:1:1: " + number + "\"" + std::string(48, 'x') + "...\""},
  };
  for (const BadText& bad : cases) {
    const auto trace = read_rps_text(bad.text, "t.txt");
    ASSERT_FALSE(trace.has_value()) << bad.text;
    EXPECT_EQ(trace.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(trace.error().message, bad.message);
  }
}

TEST(ReadCountCsv, FillsMissingSecondsWithZeros) {
  EXPECT_THAT(csv_counts("second,requests\n0,5\n1,6\n"), ElementsAre(5, 6));
  EXPECT_THAT(csv_counts("\xEF\xBB\xBFsecond,requests\r\n 2 , 5\r\n\"4\",6\r\n\r\n"), ElementsAre(0, 0, 5, 0, 6));
  EXPECT_EQ(csv_counts("second,requests\n1000000,1").size(), 1'000'001U);
}

TEST(ReadCountCsv, SaysWhatIsWrong) {
  const std::string header = "second,requests\n";
  const std::string second = "wanted a whole number from 0 to 67108863, found ";
  const std::vector<BadText> cases = {
      {"", "t.csv:1:1: wanted the header \"second,requests\", found an empty file"},
      {"0,5\n", "t.csv:1:1: wanted the header \"second,requests\", found \"0,5\""},
      {"\nsecond,requests\n", "t.csv:1:1: wanted a row, found a blank line inside the file"},
      {"second,requests,more\n0,1,2\n",
       "t.csv:1:1: wanted the header \"second,requests\", found \"second,requests,more\""},
      {header, "t.csv:2:1: wanted at least one row, found none"},
      {header + "\n \n", "t.csv:2:1: wanted at least one row, found none"},
      {header + "0,1\n\n1,2\n", "t.csv:3:1: wanted a row, found a blank line inside the file"},
      {header + "0\n", "t.csv:2:2: wanted 2 fields, found 1"},
      {header + "0,1,2\n", "t.csv:2:1: wanted at most 2 fields, found more"},
      {header + "0,\"1\n", "t.csv:2:3: wanted a closing quote, found the end of the line"},
      {header + "0,1\n0,1\n", "t.csv:3:1: wanted a second above 0, found 0"},
      {header + "5,1\n 3,1\n", "t.csv:3:2: wanted a second above 5, found 3"},
      {header + "-1,1\n", "t.csv:2:1: " + second + "\"-1\""},
      {header + "999999999,1\n", "t.csv:2:1: " + second + "\"999999999\""},
      {header + "67108864,1\n", "t.csv:2:1: " + second + "\"67108864\""},
      {header + "0, x\n", "t.csv:2:4: wanted a whole number from 0 to 10000000, found \"x\""},
      {header + "0,10000001\n", "t.csv:2:3: wanted a whole number from 0 to 10000000, found \"10000001\""},
      {header + "0,\n", "t.csv:2:3: wanted a whole number from 0 to 10000000, found \"\""},
  };
  for (const BadText& bad : cases) {
    const auto trace = read_count_csv(bad.text, "t.csv");
    ASSERT_FALSE(trace.has_value()) << bad.text;
    EXPECT_EQ(trace.error().message, bad.message);
  }
}

TEST(TraceSeconds, IsTheLengthOfWhatWasRecordedOrMade) {
  Arrivals arrivals{.source = CountTrace{{1, 2, 3}}, .from_second = 1, .seconds = 100};
  EXPECT_EQ(trace_seconds(arrivals), 3);
  arrivals.source = MinuteTrace{{1, 2, 3}};
  EXPECT_EQ(trace_seconds(arrivals), 180);
  arrivals.source = TimedTrace{.requests = {{.at_us = 7'000'000}}, .seconds = 8};
  EXPECT_EQ(trace_seconds(arrivals), 8);
  arrivals.source = Generator{};
  EXPECT_EQ(trace_seconds(arrivals), 101);
}

}  // namespace
}  // namespace berth
