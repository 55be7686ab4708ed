/// The page of `berth forecast`: forecasts compared with arrivals, and the accuracy of each model, as one
/// self-contained HTML page without script.
#pragma once

#include <string>

#include "domain/forecast/backtest.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the models side by side, and the bands of the combination around the busiest
/// second. The trace's name is escaped; absent figures are a dash. The same result gives the same bytes.
[[nodiscard]] std::string render_forecast_report(const std::string& trace, const forecast::BacktestResult& result);

}  // namespace berth::report
