/// The output of `berth forecast --format json`.
#pragma once

#include <string>

#include "domain/forecast/backtest.h"

namespace berth::cli {

/// One object and a newline: {"berth":1,"trace":..,"from_second":..,"seconds":..,"horizon":..,"every":..,
/// "origins":..,"forecasts":..,"models":[{"name":..,"wape":..,"pinball":..,"coverage_80":..,"coverage_95":..}]}; "wape"
/// is null if nothing arrived.
[[nodiscard]] std::string forecast_json(const std::string& trace, const forecast::BacktestResult& result);

}  // namespace berth::cli
