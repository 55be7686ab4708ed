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
