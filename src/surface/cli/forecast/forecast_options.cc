#include "surface/cli/forecast/forecast_options.h"

#include <array>
#include <utility>

#include "base/core/first_error.h"
#include "domain/values/arrivals.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::array kForecastFormats = {TraceFormat::kRpsText, TraceFormat::kCsv, TraceFormat::kAzureLlm,
                                         TraceFormat::kAzureFunctions};

}  // namespace

OptionTable forecast_option_rows(ForecastWords& words) {
  return {
      {"--trace", "FILE", "The recorded trace, plain or gzip", &words.trace.path, kRequired},
      {"--trace-format", "WORD", "rps-text, csv, azure-llm or azure-functions", &words.trace.format, kRequired},
      {"--app", "HASH", "For azure-functions: only this application", &words.trace.app},
      {"--function", "HASH", "For azure-functions: only this function; default: the sum of all", &words.trace.function},
      {"--horizon", "N", "How many seconds each forecast covers", &words.horizon},
      {"--every", "N", "Seconds between forecasts", &words.every},
      {"--from-second", "N", "The first second forecast; those before it are history", &words.trace.from_second},
      {"--seconds", "N", "Length of the window; default: to the end of the trace", &words.trace.seconds},
      {"--seed", "N", "Seed for arrival times that the trace does not give (within a minute), 0 to 2^63-1",
       &words.trace.seed},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
  };
}

Result<ForecastRequest> check_forecast_options(const ForecastWords& words) {
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  FirstError first;
  ForecastRequest request{.trace = first.take(check_trace_words(words.trace, kForecastFormats)),
                          .horizon = first.take(seconds_option("--horizon", words.horizon, 1, kHorizonSecondsMax)),
                          .every = first.take(seconds_option("--every", words.every, 1, kTraceSecondsMax)),
                          .format = first.take(parse_format(words.format)),
                          .report_dir = words.report};
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
