/// How accurate the models' forecasts would have been: every model forecasts a recorded trace from many points in time,
/// knowing only the past, and is compared with the arrivals that follow.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "domain/forecast/forecaster.h"

namespace berth::forecast {

/// Forecasts are made at the seconds from_second, from_second + every, ... of the window. Each covers the `horizon`
/// seconds that begin there, truncated at the window's end. Seconds before the window are history. Requires:
/// from_second >= 0, the others > 0, the window inside the trace.
struct BacktestPlan {
  std::int64_t from_second = 0;
  std::int64_t seconds = 1;
  std::int64_t horizon = 200;
  std::int64_t every = 50;
};

/// The scores of one model over all forecasts of single seconds.
struct ModelScore {
  Model model = Model::kCombination;
  std::optional<double> wape;  ///< sum of |count - median| over the sum of counts; absent if nothing arrived
  double pinball = 0;          ///< mean of the pinball loss over seconds and kLevels, in requests
  double coverage_80 = 0;      ///< mean share of a count that lies between 0.1 and 0.9 (docs/reference/forecast.md)
  double coverage_95 = 0;      ///< likewise between 0.025 and 0.975
};

/// One second of a chart: the arrivals, and the latest forecast of the combination before them.
struct ForecastSecond {
  std::int64_t second = 0;
  std::int64_t lead = 0;  ///< seconds from the making of the forecast to the end of this second, from 1
  std::uint32_t arrived = 0;
  Quantiles quantiles{};
};

struct BacktestResult {
  BacktestPlan plan;
  std::int64_t origins = 0;
  std::int64_t judged_seconds = 0;  ///< forecasts of single seconds
  std::vector<ModelScore> models;   ///< in the order of kModels
  std::vector<ForecastSecond> picture;
};

/// The maximum length of a chart in seconds; it is centred on the busiest second of the window.
inline constexpr std::int64_t kPictureSecondsMax = 1800;

/// `go_on` is called with each model and its progress, 0 to 1; if it returns false, nothing is returned. `counts`: the
/// requests of each second of the trace. About 1 us per second of the trace and 0.3 us per forecast of a second, for
/// each model. Requires: `plan` as stated at BacktestPlan.
using BacktestHook = std::function<bool(Model model, double done)>;
[[nodiscard]] std::optional<BacktestResult> backtest(std::span<const std::uint32_t> counts, const BacktestPlan& plan,
                                                     const BacktestHook& go_on);

}  // namespace berth::forecast
