#include "surface/cli/shared/trace_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rng.h"
#include "base/core/text.h"
#include "domain/trace/arrival_stream.h"
#include "domain/trace/readers.h"
#include "domain/values/arrivals.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

std::string_view name_of(TraceFormat format) {
  switch (format) {
    case TraceFormat::kRpsText:
      return "rps-text";
    case TraceFormat::kCsv:
      return "csv";
    case TraceFormat::kAzureLlm:
      return "azure-llm";
    case TraceFormat::kAzureFunctions:
      return "azure-functions";
  }
  return "";
}

Result<TraceFormat> parse_trace_format(std::string_view text, std::span<const TraceFormat> known) {
  std::string names;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (name_of(known[i]) == text) return known[i];
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 < known.size() ? ", " : " or ", name_of(known[i]));
  }
  return invalid(fmt::format("--trace-format: wanted {}, found {}", names, in_quotes(text)));
}

Result<void> check_selection(const TraceWords& words, TraceFormat format) {
  if (words.app && words.function) return invalid("--app, --function: wanted at most one of them, found both");
  const std::string_view option = words.app ? "--app" : "--function";
  if ((words.app || words.function) && format != TraceFormat::kAzureFunctions) {
    return invalid(fmt::format("{}: wanted only with --trace-format azure-functions, found with {}", option,
                               in_quotes(words.format)));
  }
  if (words.app == "" || words.function == "") return invalid(fmt::format("{}: wanted a hash, found none", option));
  return {};
}

template <class T>
Result<Arrivals> whole_arrivals(Result<T> trace) {
  if (!trace) return pass_on(trace.error());
  Arrivals arrivals{.source = std::move(*trace)};
  arrivals.seconds = trace_seconds(arrivals);
  return arrivals;
}

Result<Arrivals> read_trace(const TraceRequest& request, const std::string& text) {
  switch (request.format) {
    case TraceFormat::kRpsText:
      return whole_arrivals(read_rps_text(text, request.path));
    case TraceFormat::kCsv:
      return whole_arrivals(read_count_csv(text, request.path));
    case TraceFormat::kAzureLlm:
      return whole_arrivals(read_azure_llm(text, request.path));
    case TraceFormat::kAzureFunctions:
      return whole_arrivals(read_azure_functions(
          text, request.path,
          {.is_app = !request.function, .hash = request.function ? *request.function : request.app.value_or("")}));
  }
  return invalid("--trace-format: wanted a known one");
}

}  // namespace

Result<TraceRequest> check_trace_words(const TraceWords& words, std::span<const TraceFormat> known) {
  if (words.path.empty()) return invalid("--trace: wanted a path, found an empty one");
  const Result<TraceFormat> format = parse_trace_format(words.format, known);
  if (!format) return pass_on(format.error());
  if (Result<void> checked = check_selection(words, *format); !checked) return pass_on(checked.error());
  FirstError first;
  TraceRequest request{
      .path = words.path,
      .format = *format,
      .app = words.app,
      .function = words.function,
      .from_second = first.take(seconds_option("--from-second", words.from_second, 0, kTraceSecondsMax)),
      .seconds = std::nullopt};
  if (words.seconds) request.seconds = first.take(seconds_option("--seconds", *words.seconds, 1, kTraceSecondsMax));
  if (!first.is_clear()) return first.passed_on();
  const Result<std::int64_t> seed = parse_count(words.seed, INT64_MAX);
  if (!seed) return invalid("--seed: wanted a whole number from 0 to 2^63-1, found " + in_quotes(words.seed));
  request.seed = static_cast<std::uint64_t>(*seed);
  return request;
}

Result<std::vector<std::uint32_t>> read_trace_counts(const TraceRequest& request, const Files& files) {
  const Result<std::string> text = files.read(request.path);
  if (!text) return pass_on(text.error());
  const Result<Arrivals> arrivals = read_trace(request, *text);
  if (!arrivals) return pass_on(arrivals.error());
  if (request.from_second >= arrivals->seconds) {
    return invalid(fmt::format("--from-second: wanted a second of the trace, 0 to {}, found {}", arrivals->seconds - 1,
                               request.from_second));
  }
  const std::int64_t end =
      request.seconds ? std::min(arrivals->seconds, request.from_second + *request.seconds) : arrivals->seconds;
  const ArrivalStream stream(*arrivals, Rng(request.seed).split("forecast"));
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(end));
  for (std::int64_t second = 0; second < end; ++second) {
    counts[static_cast<std::size_t>(second)] = static_cast<std::uint32_t>(stream.count(second));
  }
  return counts;
}

}  // namespace berth::cli
