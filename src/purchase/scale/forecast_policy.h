/// The policy `berth`: forecasts the load one start time ahead, and finds its margin by simulating its choices during
/// the run.
#pragma once

#include <cstdint>
#include <memory>

#include "purchase/scale/problem.h"
#include "purchase/scale/run.h"

namespace berth::scale {

namespace detail {
class Player;
}

/// The replicas wanted in a second, and why.
struct Decision {
  std::int64_t replicas = 0;
  double forecast = 0;  ///< expected requests per second when a replica started now would be ready
  double quantile = 0;  ///< the share of forecasts whose errors the margin covers
  double margin = 0;    ///< requests per second added to the forecast; negative if the queue evens out enough

  friend bool operator==(const Decision&, const Decision&) = default;
};

/// Decides the seconds of one run. Its decision depends only on the arrivals before that second and on the replicas
/// that the run begins with.
///
/// Model: a replica wanted now serves start_seconds later, and a replica stopped now cannot be back earlier; so the
/// number wanted is the largest need of the next start_seconds. The need of a second is the replicas that its predicted
/// load plus a margin requires. Several predictors (levels of different lengths, with and without seasons of an hour
/// and a day) times nine margins (quantiles of errors, or multiples of the last hour's mean as floors) are candidates.
/// Each is simulated as its own run on the same load (detail::Shadow), starting a day before the run. The cheapest
/// predictor that would have kept the attainment is used, with the margin whose share of misses is the one allowed now:
/// below what the attainment allows if the run is behind it, above if it is ahead.
///
/// After half an hour without a request nothing is kept ready, unless a season predicts load. About 10 us per second of
/// the run and of the day before, 1 us per second of the week before that; about 10 MiB.
class ForecastPolicy {
 public:
  /// Learns from the history. `ready` is the number of replicas that the run begins with. Requires: the problem
  /// outlives the policy.
  ForecastPolicy(const Problem& problem, std::int64_t ready);
  ForecastPolicy(ForecastPolicy&& other) noexcept;
  ForecastPolicy& operator=(ForecastPolicy&& other) noexcept;
  ~ForecastPolicy();

  /// Decides a second of the run. Requires: called once for each second, in order.
  [[nodiscard]] Decision want(const Moment& moment);

 private:
  std::unique_ptr<detail::Player> player_;
};

}  // namespace berth::scale
