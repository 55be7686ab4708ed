#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/trace/readers.h"

namespace berth {
namespace {

using testing::ElementsAre;

std::string function_header() { return "HashOwner,HashApp,HashFunction,Trigger,480,481,482\n"; }

constexpr const char* kFunctionRows =
    "owner,app1,f1,http,1,2,3\n"
    "owner,app2,f2,timer,10,20,30\n"
    "owner,app1,f3,queue,100,200,300\n"
    "owner,app2,f4,http,0,0,0\n"
    "owner,app1,f4,http,0,0,0\n";

TEST(ReadAzureFunctions, TakesOneFunction) {
  const auto trace = read_azure_functions(function_header() + kFunctionRows, "t.csv", {.is_app = false, .hash = "f2"});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_THAT(trace->counts, ElementsAre(10, 20, 30));
}

TEST(ReadAzureFunctions, SumsAnApp) {
  const auto trace =
      read_azure_functions(function_header() + kFunctionRows + "\r\n\r\n", "t.csv", {.is_app = true, .hash = "app1"});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_THAT(trace->counts, ElementsAre(101, 202, 303));
}

TEST(ReadAzureFunctions, SumsRowsOfOneFunctionInOneApp) {
  const auto trace = read_azure_functions(function_header() + "o,a,f,http,1,2,3\no,a,f,timer,1,1,1\n", "t.csv",
                                          {.is_app = false, .hash = "f"});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_THAT(trace->counts, ElementsAre(2, 3, 4));
}

TEST(ReadAzureFunctions, SaysWhatIsWrong) {
  struct BadText {
    std::string text;
    std::string message;
  };
  const std::string header = "wanted the header HashOwner,HashApp,HashFunction,Trigger,..., found ";
  const std::string count = "wanted a whole number from 0 to 600000000, found ";
  const std::vector<BadText> cases = {
      {"", "t.csv:1:1: " + header + "an empty file"},
      {"HashOwner,HashApp\n", "t.csv:1:1: " + header + "\"HashOwner,HashApp\""},
      {"HashOwner,HashApp,HashFunction,Trigger\n", "t.csv:1:39: wanted at least one column of a minute, found none"},
      {"HashOwner,HashApp,HashFunction,Trigger,1,3\n", "t.csv:1:42: wanted the minute 2, found 3"},
      {"HashOwner,HashApp,HashFunction,Trigger,x\n",
       "t.csv:1:40: wanted a whole number from 0 to 1000000000, found \"x\""},
      {function_header(), "t.csv:2:1: wanted at least one row, found none"},
      {function_header() + "o,a,f,http,1,2\n", "t.csv:2:15: wanted 7 fields, found 6"},
      {function_header() + "o,a,f,http,1,2,3,4\n", "t.csv:2:1: wanted at most 7 fields, found more"},
      {function_header() + "o,,f,http,1,2,3\n", "t.csv:2:3: wanted a HashApp, found \"\""},
      {function_header() + "o,a\xFF,f,http,1,2,3\n", "t.csv:2:3: wanted a HashApp, found \"a?\""},
      {function_header() + "o,a,f,http,1,2,3\nother,b,g,http,1,2.5,3\n", "t.csv:3:18: " + count + "\"2.5\""},
      {function_header() + "o,a,f,http,1,2,600000001\n", "t.csv:2:16: " + count + "\"600000001\""},
      {function_header() + "o,a,f,http,600000000,2,3\no,a,f,http,1,2,3\n",
       "t.csv:3:12: wanted at most 600000000 calls in a minute, found 600000001"},
      {function_header() + "o,a,g,http,1,2,3\n\no,a,f,http,1,2,3\n",
       "t.csv:3:1: wanted a row, found a blank line inside the file"},
      {function_header() + "o,a,f,http,1,2,3\no,b,f,http,1,2,3\n",
       "t.csv:3:3: wanted the function \"f\" in one app, found it in \"a\" and \"b\""},
      {function_header() + "o,a,g,http,1,2,3\n",
       "t.csv:1:1: wanted a row whose HashFunction is \"f\", found none in 1 rows"},
  };
  for (const BadText& bad : cases) {
    const auto trace = read_azure_functions(bad.text, "t.csv", {.is_app = false, .hash = "f"});
    ASSERT_FALSE(trace.has_value()) << bad.text;
    EXPECT_EQ(trace.error().message, bad.message);
  }
  const auto trace = read_azure_functions(function_header() + kFunctionRows, "t.csv", {.is_app = true, .hash = "f1"});
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().message, "t.csv:1:1: wanted a row whose HashApp is \"f1\", found none in 5 rows");
}

}  // namespace
}  // namespace berth
