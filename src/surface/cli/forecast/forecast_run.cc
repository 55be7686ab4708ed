#include "surface/cli/forecast/forecast_run.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "surface/cli/forecast/forecast_json.h"
#include "surface/cli/forecast/forecast_table.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/report_folder.h"
#include "surface/pages/forecast_report.h"

namespace berth::cli {
namespace {

std::string printed_forecast(const ForecastRequest& request, const forecast::BacktestResult& result, bool has_colour) {
  switch (request.format) {
    case OutputFormat::kJson:
      return forecast_json(request.trace.path, result);
    case OutputFormat::kTable:
      return forecast_table(request.trace.path, result, has_colour);
  }
  return {};
}

Result<forecast::BacktestResult> backtest_models(const ForecastRequest& request,
                                                 const std::vector<std::uint32_t>& counts, std::FILE* progress,
                                                 const InterruptWatch& interrupt) {
  ProgressBar bar(progress, static_cast<int>(forecast::kModels.size()), steady_now);
  std::optional<forecast::BacktestResult> result =
      forecast::backtest(counts,
                         {.from_second = request.trace.from_second,
                          .seconds = static_cast<std::int64_t>(counts.size()) - request.trace.from_second,
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
  const Result<std::vector<std::uint32_t>> counts = read_trace_counts(request.trace, *context.files);
  if (!counts) return pass_on(counts.error());
  interrupt.defer();
  ReportFolder folder;
  if (request.report_dir) {
    if (Result<void> made = folder.make(*request.report_dir); !made) return pass_on(made.error());
  }
  const Result<forecast::BacktestResult> result = backtest_models(request, *counts, context.progress(), interrupt);
  if (!result) return pass_on(result.error());
  std::string text = printed_forecast(request, *result, context.has_colour());
  const std::string page = request.report_dir ? report::render_forecast_report(request.trace.path, *result) : "";
  if (interrupt.is_interrupted()) return pass_on(interrupted_error());
  if (request.report_dir) {
    if (Result<void> done = folder.write_page(page); !done) return pass_on(done.error());
  }
  return text;
}

}  // namespace berth::cli
