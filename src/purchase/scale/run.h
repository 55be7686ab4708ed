/// One run of a service, second by second: replicas become ready, a policy decides how many it wants, requests are
/// served.
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
  std::int64_t missed = 0;    ///< of these, those that waited too long

  [[nodiscard]] std::int64_t replicas() const { return ready + starting; }
};

/// The result of a run.
struct RunResult {
  std::int64_t replica_seconds = 0;  ///< paid: ready and starting ones
  std::int64_t requests = 0;
  std::int64_t in_time = 0;
  std::int64_t ups = 0;    ///< seconds in which replicas were started
  std::int64_t downs = 0;  ///< seconds in which replicas were stopped

  friend bool operator==(const RunResult&, const RunResult&) = default;
};

/// Called with the share of the work done, from 0 to 1. If it returns false, the work ends early.
using Progress = std::function<bool(double done)>;

/// A run that advances second by second. Regular value; amortised O(1) per second.
class Service {
 public:
  /// Begins at second `first` of the load, with `ready` replicas. Requires: the load's counts outlive the service.
  Service(const Problem& problem, std::int64_t first, std::int64_t ready);

  /// Begins the next second.
  [[nodiscard]] Moment begin();
  /// Ends the second that was begun, with `want` replicas wanted: starts and stops replicas, pays for them, serves
  /// requests. Requires: 0 <= want <= kReplicasMax.
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
  std::int64_t capacity_replicas_ = 0;  ///< the number of ready replicas to which capacity_ belongs
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
