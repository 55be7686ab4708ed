/// Events: what a world (simulated or real) reports to the engine. State changes only by applying one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/change_times.h"
#include "domain/values/gpu_state.h"
#include "domain/values/no_changes.h"
#include "domain/values/slice.h"

namespace berth {

struct ServiceSpec;
struct Solution;

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

/// A creation or destruction failed, or was reported so. What stands there is told by the GpuObserved that follows.
struct ActionFailed {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  std::uint64_t assignment = 0;  ///< StandingSlice::assignment that is not reached; of a creation
  std::string message;
  friend bool operator==(const ActionFailed&, const ActionFailed&) = default;
};

/// A slice as the world sees it.
struct SeenSlice {
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  bool is_foreign = false;       ///< made by others: it has no generation
  bool is_pending = false;       ///< its creation has not ended
  bool is_leaving = false;       ///< it is to be destroyed
  friend bool operator==(const SeenSlice&, const SeenSlice&) = default;
};

/// What stands on a GPU, whatever was reported before: all of its slices, also those on their way.
struct GpuObserved {
  GpuId gpu;
  std::uint64_t known_number = 0;  ///< the latest Action::number that the world had got; it says nothing of later ones
  std::vector<SeenSlice> slices;   ///< by slice
  friend bool operator==(const GpuObserved&, const GpuObserved&) = default;
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

/// A GPU that was ordered is there, and empty; or one that was released is given back.
struct GpuRented {
  GpuId gpu;
  bool is_here = true;
  friend bool operator==(const GpuRented&, const GpuRented&) = default;
};

/// A service is set: a new one takes a place that is free, or one that is there has another spec from now on.
struct ServiceSet {
  ServiceId service;                        ///< a place: at most the number of places so far
  std::uint64_t revision = 0;               ///< grows with each ServiceSet of the world; > 0
  std::shared_ptr<const ServiceSpec> spec;  ///< never null
  bool restarts_arrivals = true;            ///< they are counted from this instant on
  bool restarts_retraining = true;          ///< its first due time is `offset` from this instant
  bool renumbers_variants = false;          ///< its slices with points of variants go on at the default point
  friend bool operator==(const ServiceSet& a, const ServiceSet& b);
};

/// A service is gone at once. Its slices are to be destroyed; when none stands, its place may be taken.
struct ServiceRemoved {
  ServiceId service;
  friend bool operator==(const ServiceRemoved&, const ServiceRemoved&) = default;
};

/// Somebody approves the plan that waits for it.
struct PlanApproved {
  std::uint64_t plan = 0;  ///< Plan::id; of another one than waits it is no news
  std::string reason = {};
  friend bool operator==(const PlanApproved&, const PlanApproved&) = default;
};

/// The plan that waits for approval did not get it in time. The engine has no clock for that: those who have one say
/// so.
struct PlanExpired {
  std::uint64_t plan = 0;  ///< as above
  friend bool operator==(const PlanExpired&, const PlanExpired&) = default;
};

/// From now on no plan takes effect, until PlanningResumed.
struct PlanningPaused {
  std::string reason = {};
  friend bool operator==(const PlanningPaused&, const PlanningPaused&) = default;
};

struct PlanningResumed {
  std::string reason = {};
  friend bool operator==(const PlanningResumed&, const PlanningResumed&) = default;
};

/// From now on these are the windows without changes.
struct NoChangesSet {
  NoChanges windows;  ///< sound
  friend bool operator==(const NoChangesSet&, const NoChangesSet&) = default;
};

/// From now on plans count on that time for changes of that kind.
struct TimesMeasured {
  ChangeKind change;
  MeasuredTime time;
  friend bool operator==(const TimesMeasured&, const TimesMeasured&) = default;
};

/// The answer to the engine's question of that number.
struct SolveFinished {
  std::uint64_t question = 0;
  std::shared_ptr<const Solution> solution;  ///< never null; shared with readers
  friend bool operator==(const SolveFinished& a, const SolveFinished& b);
};

struct Event {
  Instant at;  ///< when it happened; it may be delivered later (observation delay)
  std::variant<ServiceSecond, SliceReady, SliceGone, RetrainingDue, RetrainingDone, GpuLost, GpuReturned, GpuScheduled,
               ServiceSet, ServiceRemoved, PlanApproved, PlanExpired, PlanningPaused, PlanningResumed, NoChangesSet,
               ActionFailed, GpuObserved, SolveFinished, TimesMeasured, GpuRented>
      what;
  friend bool operator==(const Event&, const Event&);
};

}  // namespace berth
