/// `berth forecast`: how accurately the models would have forecast a trace.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/forecast/forecast_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Reads the trace, backtests every model, writes the report, and returns the text for stdout. A window that extends
/// beyond the trace ends with it. An error or an interrupt leaves the outputs as they were.
[[nodiscard]] Result<std::string> run_forecast(const ForecastRequest& request, const VerbContext& context);

}  // namespace berth::cli
