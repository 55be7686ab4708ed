/// The window problem at a point in time: the standing slices, the expected load, and the scenario's rules as numbers.
#pragma once

#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "planner/window/frame.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// A slice that exists, or is being created, when the plan takes effect.
struct StandingNow {
  Holding holding;  ///< one holder or none
  int use = 0;      ///< the variant that it serves with, or kRetraining
  Micros ready_in;  ///< 0: ready
};

/// The state of a service's retraining when the plan takes effect.
struct RetrainingNow {
  bool is_stale = false;
  double progress = 0;
  Micros fresh_in;                 ///< of a finished retraining: until its swap is over
  Instant due_since = Instant(0);  ///< due times are counted from then
};

/// The expected requests of a service.
struct Outlook {
  /// Equally likely numbers of requests in each slot, [slot x samples + sample]; after the last slot those of the tail.
  std::vector<double> loads;
  bool is_guess = false;  ///< nothing was seen of the service or stated about it
  double raised = 1;      ///< the mean of `loads` / the mean that is expected, >= 1
  double mean_rate = 1;   ///< requests per second: an answer is worth weight / mean_rate (objective: services)
  std::optional<std::int64_t> changes_left = std::nullopt;  ///< of its budget
};

struct Moment {
  Instant begins;  ///< slot 0: when the plan takes effect
  int slots = 200;
  int samples = 1;
  double tail_seconds = 100;
  double seconds_beyond_tail = 1e9;       ///< seconds of the run after the tail, in which a fresh model is still useful
  std::vector<StandingNow> standing;      ///< sorted by slice
  std::vector<Slice> others;              ///< foreign slices, which stay; sorted
  std::vector<char> is_gpu_leaving;       ///< [gpu]: a slice is still being destroyed there
  std::vector<char> is_gpu_closed;        ///< [gpu]: nothing changes there in this window; empty: all are open
  std::vector<RetrainingNow> retraining;  ///< [service]
  std::vector<Outlook> outlooks;          ///< [service]
};

/// The problem at a point in time. Slices on no site of the frame are left out.
[[nodiscard]] Problem make_problem(const Scenario& scenario, const Frame& frame, const Moment& moment);

/// Requests per second that keep a floor: the least capacity C with sum E[min(load, C)] >= attainment x sum E[load]
/// over the slots. O(slots x samples x 60), by bisection.
[[nodiscard]] double floor_rate(const Outlook& outlook, const Moment& moment, double attainment);

}  // namespace berth::planner
