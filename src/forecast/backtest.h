/// How good the models' forecasts would have been: every model forecasts a recorded trace from many points of time,
/// knowing only what came before, and is judged by what came.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "forecast/forecaster.h"

namespace berth::forecast {

/// Forecasts are made at the seconds from_second, from_second + every, ... of the window, each of the `horizon` seconds
/// that begin there, as far as they lie in the window. Seconds before the window are history. Requires: from_second >=
/// 0, the others > 0, the window inside the trace.
struct BacktestPlan {
  std::int64_t from_second = 0;
  std::int64_t seconds = 1;
  std::int64_t horizon = 200;
  std::int64_t every = 50;
};

/// Over every second that was forecast, once for each forecast of it.
struct ModelScore {
  Model model = Model::kCombination;
  std::optional<double> wape;  ///< sum of |count - median| over the sum of counts; absent where nothing arrived
  double pinball = 0;          ///< mean of the pinball loss over seconds and kLevels, in requests
  double coverage_80 = 0;      ///< mean share of a count that lies between the levels 0.1 and 0.9 (docs/forecast.md)
  double coverage_95 = 0;      ///< likewise between 0.025 and 0.975
};

/// One second of a picture: what came, and what the latest combination before it had forecast.
struct ForecastSecond {
  std::int64_t second = 0;
  std::int64_t lead = 0;  ///< how long before its end the forecast was made, in seconds, from 1
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

/// The longest stretch that a picture shows, in seconds; it lies around the busiest second of the window.
inline constexpr std::int64_t kPictureSecondsMax = 1800;

/// `go_on` is told of each model and how much of it is done, 0 to 1; nothing comes back where it says no. `counts` are
/// those of the trace's seconds, known ones. About 1 us a second of the trace and 0.3 us a forecast of a second, for
/// each model. Requires: `plan` as said there.
using BacktestHook = std::function<bool(Model model, double done)>;
[[nodiscard]] std::optional<BacktestResult> backtest(std::span<const std::uint32_t> counts, const BacktestPlan& plan,
                                                     const BacktestHook& go_on);

}  // namespace berth::forecast
