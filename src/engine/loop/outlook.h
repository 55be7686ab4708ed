/// The requests that a planner expects: forecast, or known in a simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/forecast/forecaster.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "domain/values/snapshot.h"
#include "engine/loop/memory.h"

namespace berth {

/// The seconds of a window, and the tail that follows it.
struct Stretch {
  std::int64_t from_second = 0;
  std::int64_t seconds = 0;
  std::int64_t tail_seconds = 0;  ///< > 0
};

/// The expected requests of one service.
struct Expected {
  /// Equally likely numbers of requests in each second, [second x samples + sample]; the row after the last second is
  /// for the tail.
  std::vector<double> loads;
  /// Requests per second over the time on which plans are judged, > 0: an answer is worth weight / mean_rate.
  double mean_rate = 1;
  bool is_guess = false;  ///< nothing was seen of the service, and its owner says nothing about it
  double raised = 1;      ///< the mean of `loads` / the mean that is expected, >= 1
};

/// The expectations for one question. May be called in another thread than its source.
using Expect = std::function<Expected(ServiceId, const Stretch&)>;

/// Predicts the requests of services; it observes every snapshot before it is asked. Asking is cheap: the function that
/// it returns does the prediction.
struct OutlookSource {
  int samples = 1;                               ///< per second
  std::function<void(const Snapshot&)> observe;  ///< may be empty
  /// The expectations given the observations so far. Requires: no earlier result is called any more.
  std::function<Expect()> ask;
  /// Passes the mean rates ([ServiceId]) of the last question, for a stretch from that second on: what the source must
  /// know of its results, which another engine may have computed. They are not called any more. May be empty.
  std::function<void(std::int64_t from_second, const std::vector<double>& mean_rates)> learn = {};
  Memory memory = {};
  /// Stage::forecast. May be empty.
  std::function<std::optional<forecast::Bands>(ServiceId, std::int64_t second)> forecast = {};
};

/// The load to plan for while a service is new and its owner says what to expect (ServiceSpec::expects).
enum class StatedLoad {
  kConstant,  ///< the stated requests in each second
  kAtLeast,   ///< the stated mean, or the observed one where it is higher, with the noise of single requests (Poisson)
};

/// Forecasts by domain/forecast/forecaster.h from the observed requests alone, so it also works outside a simulation.
/// `mean_rate`: the mean over the seconds of the run that were seen and the expected ones of the window and the tail;
/// it follows that estimate with a time constant of 20 s (docs/explanation/planner.md), so that plans a second apart
/// value answers almost equally. Requires: questions come in order of time.
[[nodiscard]] OutlookSource forecast_outlook(const Scenario& scenario, StatedLoad stated = StatedLoad::kAtLeast);

/// Forecasts loads as forecast_outlook does, but knows how many requests each service gets in the run: to measure the
/// cost of estimating `mean_rate`. `arrivals` returns the requests of a second of the run.
[[nodiscard]] OutlookSource known_counts_outlook(
    const Scenario& scenario, const std::function<std::int64_t(ServiceId, std::int64_t second)>& arrivals);

/// Knows all arrivals: for the planner with perfect forecasts. `mean_rate`: of the whole run. `arrivals` returns the
/// requests of a second of the run.
[[nodiscard]] OutlookSource known_outlook(const Scenario& scenario,
                                          std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals);

}  // namespace berth
