/// What a planner may expect to arrive: by forecasts, or, in a simulation, by knowing it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "domain/scenario.h"
#include "domain/slice.h"
#include "domain/snapshot.h"

namespace berth {

/// The seconds of a window, and what follows it.
struct Stretch {
  std::int64_t from_second = 0;
  std::int64_t seconds = 0;
  std::int64_t tail_seconds = 0;  ///< > 0
};

/// What is expected of one service.
struct Expected {
  /// Equally likely requests of each second, [second x samples + sample]; after the last one those of the tail.
  std::vector<double> loads;
  /// Requests a second over the time that plans are judged by, > 0: an answer is worth weight / mean_rate.
  double mean_rate = 1;
};

/// Gives what to expect of services; it sees every snapshot before it is asked.
struct OutlookSource {
  int samples = 1;                               ///< of each second
  std::function<void(const Snapshot&)> observe;  ///< may be empty
  std::function<Expected(ServiceId, const Stretch&)> expect;
};

/// Forecasts by forecast/forecaster.h from what was seen, as they run anywhere. `mean_rate`: of the run's seconds that
/// were seen, and of the expected ones of the window and the tail; it follows that estimate with a time constant of
/// 20 s (docs/planner.md), so plans a second apart value answers alike. Expects to be asked in order of time.
[[nodiscard]] OutlookSource forecast_outlook(const Scenario& scenario);

/// Forecasts loads as forecast_outlook does, but knows how many requests each service gets in the run: to measure what
/// the estimate of `mean_rate` costs. `arrivals` gives the requests of a second of the run.
[[nodiscard]] OutlookSource known_counts_outlook(
    const Scenario& scenario, const std::function<std::int64_t(ServiceId, std::int64_t second)>& arrivals);

/// Knows what comes: for the planner with perfect forecasts. `mean_rate`: of the whole run. `arrivals` gives the
/// requests of a second of the run.
[[nodiscard]] OutlookSource known_outlook(const Scenario& scenario,
                                          std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals);

}  // namespace berth
