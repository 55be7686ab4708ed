#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/core/instant.h"
#include "domain/trace/readers.h"

namespace berth {
namespace {

using testing::ElementsAre;

using Request = TimedTrace::Request;

std::string llm_header() { return "TIMESTAMP,ContextTokens,GeneratedTokens\n"; }

TEST(ReadAzureLlm, CutsTimesToMicrosecondsFromTheFirstWholeSecond) {
  const auto trace = read_azure_llm("\xEF\xBB\xBF" + llm_header() +
                                        "2023-11-16 18:15:46.6805999,374,44\r\n"
                                        "2023-11-16T18:15:50Z,0,4294967295\r\n"
                                        "2023-11-16 18:15:50.000000999+00:00, 7 ,8",
                                    "t.csv");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_THAT(trace->requests,
              ElementsAre(Request{680'599, 374, 44}, Request{4'000'000, 0, 4'294'967'295}, Request{4'000'000, 7, 8}));
  EXPECT_EQ(trace->seconds, 5);
}

TEST(ReadAzureLlm, GoesOverMidnightLeapDaysAndYears) {
  const auto trace = read_azure_llm(llm_header() +
                                        "2023-12-31 23:59:59.5,1,1\n"
                                        "2024-01-01 00:00:00,1,1\n"
                                        "2024-03-01 00:00:00,1,1\n\n \n",
                                    "t.csv");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_THAT(trace->requests, ElementsAre(Request{500'000, 1, 1}, Request{1'000'000, 1, 1},
                                           Request{(1 + 60 * 86'400) * kMicrosPerSecond, 1, 1}));
}

TEST(ReadAzureLlm, SaysWhatIsWrong) {
  struct BadText {
    std::string text;
    std::string message;
  };
  const std::string time = "wanted a time like 2023-11-16 18:15:46.6805900, found ";
  const std::string row = "2023-11-16 18:15:46.5,1,2\n";
  const std::vector<BadText> cases = {
      {"", "t.csv:1:1: wanted the header \"TIMESTAMP,ContextTokens,GeneratedTokens\", found an empty file"},
      {"second,requests\n",
       "t.csv:1:1: wanted the header \"TIMESTAMP,ContextTokens,GeneratedTokens\", found \"second,requests\""},
      {llm_header(), "t.csv:2:1: wanted at least one row, found none"},
      {llm_header() + row + "\n" + row, "t.csv:3:1: wanted a row, found a blank line inside the file"},
      {llm_header() + "2023-11-16 18:15:46,1\n", "t.csv:2:22: wanted 3 fields, found 2"},
      {llm_header() + "2023-11-16 18:15:46,1,2,3\n", "t.csv:2:1: wanted at most 3 fields, found more"},
      {llm_header() + "2023-02-29 18:15:46,1,2\n", "t.csv:2:1: " + time + "\"2023-02-29 18:15:46\""},
      {llm_header() + row + " yesterday,1,2\n", "t.csv:3:2: " + time + "\"yesterday\""},
      {llm_header() + row + "2023-11-16 18:15:46.4999999,1,2\n",
       "t.csv:3:1: wanted a time not before that of the row above, \"2023-11-16 18:15:46.5\", found "
       "\"2023-11-16 18:15:46.4999999\""},
      {llm_header() + row + "9999-12-31 23:59:59,1,2\n",
       "t.csv:3:1: wanted a time within 67108864 seconds of the first row's, found \"9999-12-31 23:59:59\""},
      {llm_header() + "2023-11-16 18:15:46,-1,2\n",
       "t.csv:2:21: wanted a whole number from 0 to 4294967295, found \"-1\""},
      {llm_header() + "2023-11-16 18:15:46,1,4294967296\n",
       "t.csv:2:23: wanted a whole number from 0 to 4294967295, found \"4294967296\""},
  };
  for (const BadText& bad : cases) {
    const auto trace = read_azure_llm(bad.text, "t.csv");
    ASSERT_FALSE(trace.has_value()) << bad.text;
    EXPECT_EQ(trace.error().message, bad.message);
  }
}

}  // namespace
}  // namespace berth
