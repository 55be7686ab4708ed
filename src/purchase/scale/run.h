/// One run of a service, second by second: replicas become ready, a policy says how many it wants, requests are served.
#pragma once

#include <cstdint>
#include <functional>

#include "purchase/scale/problem.h"
#include "purchase/scale/replica_set.h"
#include "purchase/scale/wait_queue.h"

namespace berth::scale {

/// What a policy sees at the beginning of a second, when replicas whose start is over are ready. It may also read the
/// load of earlier seconds.
struct Moment {
  std::int64_t second = 0;  ///< of the run
  std::int64_t ready = 0;
  std::int64_t starting = 0;
  std::int64_t requests = 0;  ///< arrived in the run so far
  std::int64_t missed = 0;    ///< of these, waited too long

  [[nodiscard]] std::int64_t replicas() const { return ready + starting; }
};

/// What came of a run.
struct RunResult {
  std::int64_t replica_seconds = 0;  ///< paid: ready and starting ones
  std::int64_t requests = 0;
  std::int64_t in_time = 0;
  std::int64_t ups = 0;    ///< seconds in which replicas were started
  std::int64_t downs = 0;  ///< seconds in which replicas were stopped

  friend bool operator==(const RunResult&, const RunResult&) = default;
};

/// Learns how much of the work is done, from 0 to 1. Work ends early where it returns false.
using Progress = std::function<bool(double done)>;

/// A run that goes on second by second. Regular value; amortised O(1) per second.
class Service {
 public:
  /// Begins at second `first` of the load, with so many ready replicas. Requires: the load's counts outlive the
  /// service.
  Service(const Problem& problem, std::int64_t first, std::int64_t ready);

  /// Begins the next second.
  [[nodiscard]] Moment begin();
  /// Ends the second that was begun, with so many replicas wanted: starts and stops them, pays them, serves requests.
  /// Requires: 0 <= want <= kReplicasMax.
  void end(std::int64_t want);

  [[nodiscard]] const RunResult& result() const { return result_; }
  [[nodiscard]] std::int64_t missed() const { return queue_.missed(); }
  [[nodiscard]] const ReplicaSet& replicas() const { return replicas_; }

 private:
  Load load_;
  ReplicaRate rate_;
  std::int64_t second_ = 0;
  ReplicaSet replicas_;
  WaitQueue queue_;
  std::int64_t capacity_replicas_ = 0;  ///< the number of ready replicas that capacity_ is of
  std::int64_t capacity_ = 0;
  RunResult result_;
};

/// Serves the whole run. `decide` gets the Moment of each second, in order, and returns how many replicas it wants.
template <class Decide>
[[nodiscard]] RunResult serve_run(const Problem& problem, std::int64_t ready, Decide&& decide) {
  Service service(problem, 0, ready);
  for (std::int64_t second = 0; second < problem.load.seconds(); ++second) service.end(decide(service.begin()));
  return service.result();
}

}  // namespace berth::scale
