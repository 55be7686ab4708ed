/// Events: what a world (simulated or real) reports to the engine. State changes only by applying one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/change_times.h"
#include "domain/values/gpu_state.h"
#include "domain/values/no_changes.h"
#include "domain/values/slice.h"
#include "domain/values/speed_factors.h"

namespace berth {

struct ServiceSpec;
struct Solution;

/// The requests and answers of one service in one second. Requests themselves never reach the engine.
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
  std::uint64_t assignment = 0;  ///< StandingSlice::assignment of these holders; ignored unless it is the current one
  friend bool operator==(const SliceReady&, const SliceReady&) = default;
};

/// A slice is gone.
struct SliceGone {
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  friend bool operator==(const SliceGone&, const SliceGone&) = default;
};

/// A creation or destruction failed, or was reported so. The GpuObserved that follows has the GPU's actual slices.
struct ActionFailed {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  std::uint64_t assignment = 0;  ///< of a creation: the StandingSlice::assignment that is not reached
  std::string message;
  friend bool operator==(const ActionFailed&, const ActionFailed&) = default;
};

/// A slice as the world sees it.
struct SeenSlice {
  Slice slice;
  std::uint64_t generation = 0;  ///< StandingSlice::generation
  bool is_foreign = false;       ///< not made by this engine: it has no generation
  bool is_pending = false;       ///< its creation has not ended
  bool is_leaving = false;       ///< it is to be destroyed
  friend bool operator==(const SeenSlice&, const SeenSlice&) = default;
};

/// The slices on a GPU, regardless of earlier reports: all of them, including those being created or destroyed.
struct GpuObserved {
  GpuId gpu;
  std::uint64_t known_number = 0;  ///< the latest Action::number known to the world; later actions are not reflected
  std::vector<SeenSlice> slices;   ///< by slice
  friend bool operator==(const GpuObserved&, const GpuObserved&) = default;
};

/// A slice that stood before this engine knew it, with its holder, is the engine's from now on; it is not ready yet.
struct SliceAdopted {
  Slice slice;
  ServiceId service;
  std::uint64_t number = 0;  ///< StandingSlice::generation and assignment: the latest Action::number of its GPU
  friend bool operator==(const SliceAdopted&, const SliceAdopted&) = default;
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

/// An operator, or the session, changed the scheduling of a GPU.
struct GpuScheduled {
  GpuId gpu;
  GpuScheduling scheduling = GpuScheduling::kOpen;
  std::string reason = {};
  friend bool operator==(const GpuScheduled&, const GpuScheduled&) = default;
};

/// An ordered GPU has arrived and is empty, or a released one is given back.
struct GpuRented {
  GpuId gpu;
  bool is_here = true;
  friend bool operator==(const GpuRented&, const GpuRented&) = default;
};

/// A service is set: a new one takes a free place, or an existing one has a new spec from now on.
struct ServiceSet {
  ServiceId service;                        ///< a place: at most the number of places so far
  std::uint64_t revision = 0;               ///< grows with each ServiceSet of the world; > 0
  std::shared_ptr<const ServiceSpec> spec;  ///< never null
  bool restarts_arrivals = true;            ///< arrivals are counted from this instant on
  bool restarts_retraining = true;          ///< its first due time is `offset` from this instant
  bool renumbers_variants = false;          ///< slices with points of variants continue at the default point
  friend bool operator==(const ServiceSet& a, const ServiceSet& b);
};

/// A service is gone at once. Its slices are to be destroyed; once there is none left, its place may be taken.
struct ServiceRemoved {
  ServiceId service;
  friend bool operator==(const ServiceRemoved&, const ServiceRemoved&) = default;
};

/// An operator approved the plan that waits for approval.
struct PlanApproved {
  std::uint64_t plan = 0;  ///< Plan::id; ignored unless this plan waits
  std::string reason = {};
  friend bool operator==(const PlanApproved&, const PlanApproved&) = default;
};

/// The plan that waits for approval did not get it in time. The engine has no clock for that: the caller, which has
/// one, reports it.
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
  NoChanges windows;  ///< `is_sound`
  friend bool operator==(const NoChangesSet&, const NoChangesSet&) = default;
};

/// From now on plans assume this time for changes of this kind.
struct TimesMeasured {
  ChangeKind change;
  MeasuredTime time;
  friend bool operator==(const TimesMeasured&, const TimesMeasured&) = default;
};

/// A service has run enough batches on GPUs of a model: from now on its rows there are known (TierRule::known_on).
struct TierMeasured {
  ServiceId service;
  std::string gpu;  ///< full name of the model
  friend bool operator==(const TierMeasured&, const TierMeasured&) = default;
};

/// From now on plans assume that batches take the table's time x factor at a place.
struct SpeedMeasured {
  SpeedPlace place;
  std::optional<Decimal> factor;  ///< SpeedFactor::factor; absent: what was recorded there no longer holds
  std::int64_t batches = 0;       ///< by which it was measured
  bool is_used = true;            ///< SpeedFactor::is_used
  friend bool operator==(const SpeedMeasured&, const SpeedMeasured&) = default;
};

/// The answer to the engine's question of that number.
struct SolveFinished {
  std::uint64_t question = 0;
  std::shared_ptr<const Solution> solution;  ///< never null; shared with readers
  friend bool operator==(const SolveFinished& a, const SolveFinished& b);
};

/// The factors after the event. Requires: it happened at `at`.
void note_speed(SpeedFactors& speeds, const SpeedMeasured& measured, Instant at);

struct Event {
  Instant at;  ///< when it happened; it may be delivered later (observation delay)
  std::variant<ServiceSecond, SliceReady, SliceGone, RetrainingDue, RetrainingDone, GpuLost, GpuReturned, GpuScheduled,
               ServiceSet, ServiceRemoved, PlanApproved, PlanExpired, PlanningPaused, PlanningResumed, NoChangesSet,
               ActionFailed, GpuObserved, SolveFinished, TimesMeasured, GpuRented, TierMeasured, SpeedMeasured,
               SliceAdopted>
      what;
  friend bool operator==(const Event&, const Event&);
};

}  // namespace berth
