/// What `berth forecast` prints for people.
#pragma once

#include <string>

#include "forecast/backtest.h"

namespace berth::cli {

/// A line on the trace, a row for each model, and how the combination stands to the best of the others.
[[nodiscard]] std::string forecast_table(const std::string& trace, const forecast::BacktestResult& result,
                                         bool has_colour);

}  // namespace berth::cli
