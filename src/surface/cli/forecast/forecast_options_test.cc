#include "surface/cli/forecast/forecast_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

ForecastWords typed() { return {.trace = {.path = "t.txt", .format = "rps-text"}}; }

TEST(ForecastOptions, DefaultsAreThoseOfTheHelp) {
  const Result<ForecastRequest> request = check_forecast_options(typed());
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->trace.format, TraceFormat::kRpsText);
  EXPECT_EQ(request->horizon, 200);
  EXPECT_EQ(request->every, 50);
  EXPECT_EQ(request->trace.from_second, 0);
  EXPECT_EQ(request->trace.seconds, std::nullopt);
  EXPECT_EQ(request->format, OutputFormat::kTable);
}

TEST(ForecastOptions, TakesWhatIsTyped) {
  ForecastWords words = typed();
  words.trace.format = "azure-functions";
  words.trace.app = "abc";
  words.horizon = "86400";
  words.every = "1";
  words.trace.from_second = "7";
  words.trace.seconds = "9";
  words.format = "json";
  words.report = "out";
  const Result<ForecastRequest> request = check_forecast_options(words);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->trace.app, "abc");
  EXPECT_EQ(request->horizon, 86'400);
  EXPECT_EQ(request->every, 1);
  EXPECT_EQ(request->trace.from_second, 7);
  EXPECT_EQ(request->trace.seconds, 9);
  EXPECT_EQ(request->format, OutputFormat::kJson);
  EXPECT_EQ(request->report_dir, "out");
}

TEST(ForecastOptions, RefusesWithWhatWasWantedAndFound) {
  struct Case {
    void (*spoil)(ForecastWords&);
    const char* message;
  };
  const Case cases[] = {
      {[](ForecastWords& w) { w.trace.path = ""; }, "--trace: wanted a path, found an empty one"},
      {[](ForecastWords& w) { w.report = ""; }, "--report: wanted a folder, found an empty path"},
      {[](ForecastWords& w) { w.trace.format = "rps"; },
       "--trace-format: wanted rps-text, csv, azure-llm or azure-functions, found \"rps\""},
      {[](ForecastWords& w) { w.trace.app = "a"; },
       "--app: wanted only with --trace-format azure-functions, found with \"rps-text\""},
      {[](ForecastWords& w) { w.trace.function = "a"; },
       "--function: wanted only with --trace-format azure-functions, found with \"rps-text\""},
      {[](ForecastWords& w) { w.trace.app = w.trace.function = "a"; },
       "--app, --function: wanted at most one of them, found both"},
      {[](ForecastWords& w) {
         w.trace.format = "azure-functions";
         w.trace.app = "";
       },
       "--app: wanted a hash, found none"},
      {[](ForecastWords& w) { w.horizon = "0"; },
       "--horizon: wanted a whole number of seconds from 1 to 86400, found \"0\""},
      {[](ForecastWords& w) { w.horizon = "86401"; },
       "--horizon: wanted a whole number of seconds from 1 to 86400, found \"86401\""},
      {[](ForecastWords& w) { w.every = "1.5"; },
       "--every: wanted a whole number of seconds from 1 to 1073741824, found \"1.5\""},
      {[](ForecastWords& w) { w.trace.from_second = "-1"; },
       "--from-second: wanted a whole number of seconds from 0 to 1073741824, found \"-1\""},
      {[](ForecastWords& w) { w.trace.seconds = "0"; },
       "--seconds: wanted a whole number of seconds from 1 to 1073741824, found \"0\""},
      {[](ForecastWords& w) { w.trace.seed = "x"; }, "--seed: wanted a whole number from 0 to 2^63-1, found \"x\""},
      {[](ForecastWords& w) { w.format = "yaml"; }, "--format: wanted table or json, found \"yaml\""},
  };
  for (const Case& bad : cases) {
    ForecastWords words = typed();
    bad.spoil(words);
    const Result<ForecastRequest> request = check_forecast_options(words);
    ASSERT_FALSE(request.has_value()) << bad.message;
    EXPECT_EQ(request.error().message, bad.message);
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidInput);
  }
}

}  // namespace
}  // namespace berth::cli
