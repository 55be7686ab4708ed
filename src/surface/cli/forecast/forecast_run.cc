#include "surface/cli/forecast/forecast_run.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "surface/cli/forecast/forecast_json.h"
#include "surface/cli/forecast/forecast_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
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
                                                 const std::vector<std::uint32_t>& counts, ProgressOutput progress,
                                                 const RunOutputs& outputs) {
  ProgressBar bar(progress, static_cast<int>(forecast::kModels.size()), steady_now);
  std::optional<forecast::BacktestResult> result =
      forecast::backtest(counts,
                         {.from_second = request.trace.from_second,
                          .seconds = static_cast<std::int64_t>(counts.size()) - request.trace.from_second,
                          .horizon = request.horizon,
                          .every = request.every},
                         [&](forecast::Model model, double done) {
                           bar.show(fmt::format("{:<14}", forecast::name_of(model)), static_cast<int>(model), done);
                           return outputs.may_continue();
                         });
  if (!result) return pass_on(outputs.reason_of_stop());
  return std::move(*result);
}

}  // namespace

Result<std::string> run_forecast(const ForecastRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const Result<std::vector<std::uint32_t>> counts = read_trace_counts(request.trace, *context.files);
  if (!counts) return pass_on(counts.error());
  outputs.begin();
  if (Result<void> opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const Result<forecast::BacktestResult> result = backtest_models(request, *counts, context.progress(), outputs);
  if (!result) return pass_on(result.error());
  return outputs.finish({.text = [&] { return printed_forecast(request, *result, context.has_colour()); },
                         .page = [&] { return report::render_forecast_report(request.trace.path, *result); }});
}

}  // namespace berth::cli
