/// Events: what a world (simulated or real) reports to the engine. State changes only by applying one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "base/instant.h"
#include "domain/gpu_state.h"
#include "domain/slice.h"
#include "domain/solution.h"

namespace berth {

/// What one service received and answered in one second. Requests themselves never reach the engine.
struct ServiceSecond {
  ServiceId service;
  std::int64_t second = 0;  ///< of the run; negative ones are history
  std::int64_t arrivals = 0;
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  std::int64_t queued = 0;  ///< waiting at the end of the second
  friend bool operator==(const ServiceSecond&, const ServiceSecond&) = default;
};

/// A slice is created and works for its holders.
struct SliceReady {
  Slice slice;
  std::uint64_t assignment = 0;  ///< StandingSlice::assignment of these holders; of others it is no news
  friend bool operator==(const SliceReady&, const SliceReady&) = default;
};

/// A slice is gone.
struct SliceGone {
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  friend bool operator==(const SliceGone&, const SliceGone&) = default;
};

/// A service's model is stale: its retraining should run.
struct RetrainingDue {
  ServiceId service;
  friend bool operator==(const RetrainingDue&, const RetrainingDue&) = default;
};

/// A service's retraining is done.
struct RetrainingDone {
  ServiceId service;
  friend bool operator==(const RetrainingDone&, const RetrainingDone&) = default;
};

/// A GPU is lost, with all its slices.
struct GpuLost {
  GpuId gpu;
  std::string reason = {};
  friend bool operator==(const GpuLost&, const GpuLost&) = default;
};

/// A lost GPU is back, and empty.
struct GpuReturned {
  GpuId gpu;
  friend bool operator==(const GpuReturned&, const GpuReturned&) = default;
};

/// Somebody decided how a GPU may be used.
struct GpuScheduled {
  GpuId gpu;
  GpuScheduling scheduling = GpuScheduling::kOpen;
  std::string reason = {};
  friend bool operator==(const GpuScheduled&, const GpuScheduled&) = default;
};

/// The answer to the engine's question of that number.
struct SolveFinished {
  std::uint64_t question = 0;
  std::shared_ptr<const Solution> solution;  ///< never null; shared with readers
  friend bool operator==(const SolveFinished& a, const SolveFinished& b) {
    return a.question == b.question && *a.solution == *b.solution;
  }
};

struct Event {
  Instant at;  ///< when it happened; it may be delivered later (observation delay)
  std::variant<ServiceSecond, SliceReady, SliceGone, RetrainingDue, RetrainingDone, GpuLost, GpuReturned, GpuScheduled,
               SolveFinished>
      what;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace berth
