#include "surface/cli/forecast/forecast_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "surface/cli/forecast/forecast_json.h"
#include "surface/cli/forecast/forecast_table.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/report_folder.h"
#include "trace/arrival_stream.h"
#include "trace/readers.h"

namespace berth::cli {
namespace {

template <class T>
Result<Arrivals> whole_arrivals(Result<T> trace) {
  if (!trace) return pass_on(trace.error());
  Arrivals arrivals{.source = std::move(*trace)};
  arrivals.seconds = trace_seconds(arrivals);
  return arrivals;
}

Result<Arrivals> read_trace(const ForecastRequest& request, const std::string& text) {
  const std::string& path = request.trace_path;
  switch (request.trace_format) {
    case TraceFormat::kRpsText:
      return whole_arrivals(read_rps_text(text, path));
    case TraceFormat::kCsv:
      return whole_arrivals(read_count_csv(text, path));
    case TraceFormat::kAzureLlm:
      return whole_arrivals(read_azure_llm(text, path));
    case TraceFormat::kAzureFunctions:
      return whole_arrivals(read_azure_functions(
          text, path,
          {.is_app = !request.function, .hash = request.function ? *request.function : request.app.value_or("")}));
  }
  return invalid("--trace-format: wanted a known one");
}

/// The requests of each second up to the end of the window.
Result<std::vector<std::uint32_t>> read_counts(const ForecastRequest& request, const Files& files) {
  const Result<std::string> text = files.read(request.trace_path);
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

std::string printed_forecast(const ForecastRequest& request, const forecast::BacktestResult& result, bool has_colour) {
  switch (request.format) {
    case OutputFormat::kJson:
      return forecast_json(request.trace_path, result);
    case OutputFormat::kTable:
      return forecast_table(request.trace_path, result, has_colour);
  }
  return {};
}

Result<forecast::BacktestResult> backtest_models(const ForecastRequest& request,
                                                 const std::vector<std::uint32_t>& counts, std::FILE* progress,
                                                 const InterruptWatch& interrupt) {
  ProgressBar bar(progress, static_cast<int>(forecast::kModels.size()), steady_now);
  std::optional<forecast::BacktestResult> result =
      forecast::backtest(counts,
                         {.from_second = request.from_second,
                          .seconds = static_cast<std::int64_t>(counts.size()) - request.from_second,
                          .horizon = request.horizon,
                          .every = request.every},
                         [&](forecast::Model model, double done) {
                           bar.show(fmt::format("{:<14}", forecast::name_of(model)), static_cast<int>(model), done);
                           return !interrupt.is_interrupted();
                         });
  if (!result) return pass_on(interrupted_error());
  return std::move(*result);
}

}  // namespace

Result<std::string> run_forecast(const ForecastRequest& request, const VerbContext& context) {
  InterruptWatch interrupt;
  const Result<std::vector<std::uint32_t>> counts = read_counts(request, *context.files);
  if (!counts) return pass_on(counts.error());
  interrupt.defer();
  ReportFolder folder;
  if (request.report_dir) {
    if (Result<void> made = folder.make(*request.report_dir); !made) return pass_on(made.error());
  }
  const Result<forecast::BacktestResult> result = backtest_models(request, *counts, context.progress(), interrupt);
  if (!result) return pass_on(result.error());
  std::string text = printed_forecast(request, *result, context.has_colour());
  const std::string page = request.report_dir ? context.reports.forecast(request.trace_path, *result) : "";
  if (interrupt.is_interrupted()) return pass_on(interrupted_error());
  if (request.report_dir) {
    if (Result<void> done = folder.write_page(page); !done) return pass_on(done.error());
  }
  return text;
}

}  // namespace berth::cli
