/// Clients that wait for an answer before they ask again, around a dispatcher under a virtual clock.
#pragma once

#include <cstdint>

#include "serving/dispatch/dispatcher.h"

namespace berth::serving {

struct ClosedLoop {
  DispatchPolicy policy;
  LatencyTable latency;  ///< of the one model, which is resident
  int lanes = 1;
  int clients = 1;
  Micros target;
  /// From an answer to the client's next request: the fixed part, and the mean of an exponential part.
  Micros think_fixed;
  Micros think_random;
  Micros warm_up;  ///< is not counted
  Micros length;   ///< of what is counted
  std::uint64_t seed = 1;
};

struct ClosedLoopFigures {
  double answers_per_second = 0;
  double latency_mean_us = 0;
  double in_time_per_second = 0;
};

/// A request that is rejected or dropped is followed by the next one a millisecond later than its think time.
/// Requires: at least one client, a length above 0.
[[nodiscard]] ClosedLoopFigures run_closed_loop(const ClosedLoop& loop);

}  // namespace berth::serving
