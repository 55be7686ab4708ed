#include "surface/cli/forecast/forecast_options.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "domain/arrivals.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::array<std::pair<std::string_view, TraceFormat>, 4> kTraceFormats = {
    {{"rps-text", TraceFormat::kRpsText},
     {"csv", TraceFormat::kCsv},
     {"azure-llm", TraceFormat::kAzureLlm},
     {"azure-functions", TraceFormat::kAzureFunctions}}};

Result<TraceFormat> parse_trace_format(std::string_view text) {
  for (const auto& [name, format] : kTraceFormats) {
    if (name == text) return format;
  }
  return invalid("--trace-format: wanted rps-text, csv, azure-llm or azure-functions, found " + in_quotes(text));
}

Result<std::int64_t> parse_seconds(std::string_view option, std::string_view text, std::int64_t min, std::int64_t max) {
  Result<std::int64_t> count = parse_count(text, max);
  if (count && *count >= min) return count;
  return invalid(
      fmt::format("{}: wanted a whole number of seconds from {} to {}, found {}", option, min, max, in_quotes(text)));
}

Result<void> check_selection(const ForecastWords& words, TraceFormat format) {
  if (words.app && words.function) return invalid("--app, --function: wanted at most one of them, found both");
  const std::string_view option = words.app ? "--app" : "--function";
  if ((words.app || words.function) && format != TraceFormat::kAzureFunctions) {
    return invalid(fmt::format("{}: wanted only with --trace-format azure-functions, found with {}", option,
                               in_quotes(words.trace_format)));
  }
  if (words.app == "" || words.function == "") return invalid(fmt::format("{}: wanted a hash, found none", option));
  return {};
}

/// Reads the options that are numbers.
Result<void> read_numbers(const ForecastWords& words, ForecastRequest& request) {
  const Result<std::int64_t> horizon = parse_seconds("--horizon", words.horizon, 1, kHorizonSecondsMax);
  if (!horizon) return pass_on(horizon.error());
  request.horizon = *horizon;
  const Result<std::int64_t> every = parse_seconds("--every", words.every, 1, kTraceSecondsMax);
  if (!every) return pass_on(every.error());
  request.every = *every;
  const Result<std::int64_t> from = parse_seconds("--from-second", words.from_second, 0, kTraceSecondsMax);
  if (!from) return pass_on(from.error());
  request.from_second = *from;
  if (words.seconds) {
    const Result<std::int64_t> seconds = parse_seconds("--seconds", *words.seconds, 1, kTraceSecondsMax);
    if (!seconds) return pass_on(seconds.error());
    request.seconds = *seconds;
  }
  const Result<std::int64_t> seed = parse_count(words.seed, INT64_MAX);
  if (!seed) return invalid("--seed: wanted a whole number from 0 to 2^63-1, found " + in_quotes(words.seed));
  request.seed = static_cast<std::uint64_t>(*seed);
  return {};
}

}  // namespace

Result<ForecastRequest> check_forecast_options(const ForecastWords& words) {
  if (words.trace.empty()) return invalid("--trace: wanted a path, found an empty one");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  const Result<TraceFormat> trace_format = parse_trace_format(words.trace_format);
  if (!trace_format) return pass_on(trace_format.error());
  if (Result<void> checked = check_selection(words, *trace_format); !checked) return pass_on(checked.error());
  ForecastRequest request{.trace_path = words.trace,
                          .trace_format = *trace_format,
                          .app = words.app,
                          .function = words.function,
                          .seconds = std::nullopt,
                          .report_dir = words.report};
  if (Result<void> read = read_numbers(words, request); !read) return pass_on(read.error());
  const Result<OutputFormat> format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  request.format = *format;
  return request;
}

}  // namespace berth::cli
