/// The table of `berth forecast`.
#pragma once

#include <string>

#include "domain/forecast/backtest.h"

namespace berth::cli {

/// A line about the trace, a row for each model, and the combination compared with the best single model.
[[nodiscard]] std::string forecast_table(const std::string& trace, const forecast::BacktestResult& result,
                                         bool has_colour);

}  // namespace berth::cli
