/// `berth forecast`: how accurately the models would have forecast a trace.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "base/result.h"
#include "forecast/backtest.h"
#include "ports/files.h"
#include "surface/cli/forecast_options.h"

namespace berth::cli {

/// Draws the page of --report: of a trace with that name.
using ForecastReportRenderer = std::function<std::string(const std::string& trace, const forecast::BacktestResult&)>;

/// The environment of the verb.
struct ForecastSurroundings {
  const Files& files;                    ///< the trace is read through these
  ForecastReportRenderer render_report;  ///< needed for --report only
  std::FILE* progress = nullptr;         ///< a terminal that shows progress; absent: none
  bool has_colour = false;               ///< of the table
};

/// Reads the trace, backtests every model, writes the report, and returns the text for stdout. A window that extends
/// beyond the trace ends with it. An error or an interrupt leaves the outputs as they were.
[[nodiscard]] Result<std::string> run_forecast(const ForecastRequest& request,
                                               const ForecastSurroundings& surroundings);

}  // namespace berth::cli
