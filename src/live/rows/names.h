/// The names that the journal's JSON gives to fields, values and cases. A field renamed in the code keeps its name
/// here.
#pragma once

#include <array>

#include "domain/values/event.h"
#include "domain/values/no_changes.h"
#include "domain/values/plan.h"
#include "domain/values/slice.h"
#include "domain/values/solution.h"
#include "live/rows/named_json.h"
#include "live/session/entry.h"
#include "sim/world/fault_book.h"
#include "sim/world/journal.h"
#include "sim/world/world_memory.h"
#include "world/slices/device_memory.h"
#include "world/slices/slice_records.h"

namespace berth::journal {

// ---- slices and GPUs
template <>
inline constexpr std::array kNames<Slice> = {"gpu", "start", "profile"};
template <>
inline constexpr std::array kWords<Role> = {"inference", "retraining"};
template <>
inline constexpr std::array kNames<Holding> = {"slice", "role", "services"};
template <>
inline constexpr std::array kNames<PointChoice> = {"variant", "batch", "processes"};
template <>
inline constexpr std::array kNames<Allocation> = {"holding", "point"};
template <>
inline constexpr std::array kWords<GpuScheduling> = {"open", "cordoned", "draining", "ordered", "absent"};

// ---- plans and solutions
template <>
inline constexpr std::array kNames<CreateSlice> = {"slice"};
template <>
inline constexpr std::array kNames<DestroySlice> = {"slice"};
template <>
inline constexpr std::array kWords<SliceChange> = {"create", "destroy", "assign"};
template <>
inline constexpr std::array kNames<Reason> = {"text", "numbers"};
template <>
inline constexpr std::array kNames<Action> = {"what", "reason", "number"};
template <>
inline constexpr std::array kNames<PlannedFloor> = {"service", "needed", "planned"};
template <>
inline constexpr std::array kNames<SliceFact> = {"slice", "number"};
template <>
inline constexpr std::array kNames<ServiceFact> = {"service", "revision"};
template <>
inline constexpr std::array kNames<GpuFact> = {"gpu", "slices", "services"};
template <>
inline constexpr std::array kNames<ChangeAhead> = {"gpu", "after_seconds", "to"};
template <>
inline constexpr std::array kWords<ConstraintKind> = {"floor",  "pins", "isolation", "trust_domain", "changes_per_hour",
                                                      "frozen", "tier"};
template <>
inline constexpr std::array kNames<ConstraintId> = {"service", "kind"};
template <>
inline constexpr std::array kNames<ProvenConflict> = {"constraints", "is_minimal"};
template <>
inline constexpr std::array kNames<ChangeUnderWay> = {"until_us"};
template <>
inline constexpr std::array kWords<UnmetFloors> = {"proven_conflict", "change_under_way", "not_decided"};
template <>
inline constexpr std::array kNames<GpuOrder> = {"gpu", "is_release", "reason"};
template <>
inline constexpr std::array kNames<Plan> = {
    "id",        "epoch", "base_version",  "made_at_us", "is_ordered",   "facts", "expires_at_us", "actions",
    "objective", "bound", "promised_gain", "floors",     "unmet_floors", "ahead", "gpu_orders"};
template <>
inline constexpr std::array kNames<ExpectedReady> = {"slice", "at_us"};
template <>
inline constexpr std::array kNames<Conflict> = {"constraints", "is_minimal", "is_smallest", "calls", "why"};
template <>
inline constexpr std::array kWords<ConflictSearchResult> = {"can_be_met", "conflict", "not_decided"};
template <>
inline constexpr std::array kNames<FoundFeasibility> = {"at_us", "result"};
template <>
inline constexpr std::array kNames<SupplyStep> = {"slot", "rates", "progress"};
template <>
inline constexpr std::array kNames<PromisedRetraining> = {"is_stale",           "progress",         "fresh_in",
                                                          "due_slots",          "keeps_unfinished", "swap_slots",
                                                          "tail_fresh_seconds", "progress_value",   "fresh_value"};
template <>
inline constexpr std::array kNames<PromisedService> = {
    "service", "value", "accuracy_before", "accuracy_after", "retraining", "with_changes", "without_changes"};
template <>
inline constexpr std::array kNames<PromisedPiece> = {"slice", "service", "variant", "rate", "ready", "until"};
template <>
inline constexpr std::array kNames<Promise> = {"gpu", "slots", "tail_seconds", "gain", "price", "pieces", "services"};
template <>
inline constexpr std::array kNames<Solution> = {"plan",        "infeasible", "ready",   "floors",
                                                "feasibility", "mean_rates", "promises"};

// ---- events
template <>
inline constexpr std::array kNames<SliceReady> = {"slice", "assignment"};
template <>
inline constexpr std::array kNames<SliceGone> = {"slice", "generation"};
template <>
inline constexpr std::array kWords<ActionKind> = {"creation", "destruction"};
template <>
inline constexpr std::array kNames<ActionFailed> = {"kind", "slice", "generation", "assignment", "message"};
template <>
inline constexpr std::array kNames<SeenSlice> = {"slice", "generation", "is_foreign", "is_pending", "is_leaving"};
template <>
inline constexpr std::array kNames<GpuObserved> = {"gpu", "known_number", "slices"};
template <>
inline constexpr std::array kNames<RetrainingDue> = {"service"};
template <>
inline constexpr std::array kNames<RetrainingDone> = {"service"};
template <>
inline constexpr std::array kNames<GpuLost> = {"gpu", "reason"};
template <>
inline constexpr std::array kNames<GpuReturned> = {"gpu"};
template <>
inline constexpr std::array kNames<GpuScheduled> = {"gpu", "scheduling", "reason"};
template <>
inline constexpr std::array kNames<PlanApproved> = {"plan", "reason"};
template <>
inline constexpr std::array kNames<PlanExpired> = {"plan"};
template <>
inline constexpr std::array kNames<PlanningPaused> = {"reason"};
template <>
inline constexpr std::array kNames<PlanningResumed> = {"reason"};
template <>
inline constexpr std::array kNames<WeekSpan> = {"from_minute", "until_minute"};
template <>
inline constexpr std::array kNames<NoChanges> = {"week_at_start_us", "spans"};
template <>
inline constexpr std::array kNames<ChangeKind> = {"model", "profile", "action"};
template <>
inline constexpr std::array kNames<MeasuredTime> = {"median_us", "count"};
template <>
inline constexpr std::array kNames<TimesMeasured> = {"change", "time"};
template <>
inline constexpr std::array kNames<GpuRented> = {"gpu", "is_here"};
template <>
inline constexpr std::array kNames<TierMeasured> = {"service", "gpu"};
template <>
inline constexpr std::array kNames<SpeedPlace> = {"service", "model", "profile"};
template <>
inline constexpr std::array kNames<SpeedMeasured> = {"place", "factor", "batches", "is_used"};
template <>
inline constexpr std::array kNames<SliceAdopted> = {"slice", "service", "number"};
template <>
inline constexpr std::array kNames<SolveFinished> = {"question", "solution"};

// ---- entries
template <>
inline constexpr std::array kNames<live::SecondsSeen> = {"service", "from_second", "arrivals", "queued"};
template <>
inline constexpr std::array kWords<world::SliceEvent> = {"created", "destroyed",          "lost",           "draining",
                                                         "serving", "retraining_started", "retraining_done"};
template <>
inline constexpr std::array kNames<world::SliceRecord> = {"at_us", "event", "slice", "role", "services", "generation"};
template <>
inline constexpr std::array kNames<live::ObjectMeta> = {"number", "version", "labels", "created_us"};
template <>
inline constexpr std::array kNames<live::TenantStored> = {"name", "meta"};
template <>
inline constexpr std::array kNames<live::TenantDropped> = {"name"};
template <>
inline constexpr std::array kNames<live::ServiceName> = {"tenant", "name"};
template <>
inline constexpr std::array kNames<live::ServiceDropped> = {"name", "id"};
template <>
inline constexpr std::array kNames<live::SolutionArrived> = {"question"};
template <>
inline constexpr std::array kNames<live::DeviceIntended> = {"intent",     "kind",        "slice",
                                                            "generation", "was_ordered", "boot"};
template <>
inline constexpr std::array kNames<live::DeviceEnded> = {
    "intent", "outcome", "message", "call", "error", "gpu_instance_us", "compute_instance_us"};
template <>
inline constexpr std::array kNames<live::MigModeIntended> = {"intent", "gpu", "boot"};
template <>
inline constexpr std::array kNames<live::ProposalWaits> = {"plan", "expires_at_wall_us"};
template <>
inline constexpr std::array kWords<live::DeviceNote> = {
    "seen", "differs", "xid", "recovery_action", "mig_mode", "busy", "health", "breaker", "added"};
template <>
inline constexpr std::array kNames<live::ClockJumped> = {"from_us"};
template <>
inline constexpr std::array kNames<live::SecondsMeasured> = {"services", "counted"};
template <>
inline constexpr std::array kWords<live::ProgramNote> = {"ready", "failed", "looping"};
template <>
inline constexpr std::array kNames<live::ProgramNoted> = {"service", "slice", "generation", "note", "text", "start_us"};
template <>
inline constexpr std::array kNames<live::ForeignHolder> = {"slice", "tenant"};
template <>
inline constexpr std::array kNames<live::ForeignHeld> = {"gpu", "holders"};
template <>
inline constexpr std::array kNames<live::DeviceNoted> = {"gpu", "note", "text"};

// ---- the world
template <>
inline constexpr std::array kWords<sim::FaultKind> = {
    "lose", "return", "fail_create", "fail_destroy", "slow", "reports_failure", "foreign_slice", "serving", "clear"};
template <>
inline constexpr std::array kNames<sim::ServingFault> = {"service", "factor", "jitter"};
template <>
inline constexpr std::array kNames<sim::FaultOrder> = {"kind",    "gpus",  "times",  "duration_us",
                                                       "profile", "start", "serving"};
template <>
inline constexpr std::size_t kOmittedIfAbsent<sim::FaultOrder> = 1;
template <>
inline constexpr std::array kNames<live::FaultGiven> = {"id", "order", "cleared"};
template <>
inline constexpr std::array kNames<sim::WaitingFault> = {"id", "since_us", "order", "left"};
template <>
inline constexpr std::array kWords<world::SlicePhase> = {"waiting_for_room", "creating",   "starting", "up",
                                                         "draining",         "destroying", "gone"};
template <>
inline constexpr std::array kNames<world::SliceMemory> = {
    "slice",           "phase",       "created_as",  "assigned_as", "role",          "services",
    "point",           "next",        "is_unwanted", "is_foreign",  "will_time_out", "order",
    "continues_at_us", "was_ordered", "has_program"};
template <>
inline constexpr std::size_t kOmittedIfAbsent<world::SliceMemory> = 1;
template <>
inline constexpr std::array kNames<world::DeviceMemory> = {"is_lost", "known_number", "slices"};
template <>
inline constexpr std::array kNames<sim::RetrainingMemory> = {
    "next_due_us", "is_stale", "is_wanted", "done_share", "running_since_us", "running_time_on_us", "swap_at_us"};
template <>
inline constexpr std::array kNames<sim::ArrivalsMemory> = {"number", "from_second", "is_to_begin"};
template <>
inline constexpr std::array kNames<sim::ServiceMemory> = {"retraining", "arrivals", "is_by_rates", "revision",
                                                          "batches"};
template <>
inline constexpr std::array kNames<sim::WorldMemory> = {"now_us",   "faults",     "last_fault",
                                                        "services", "common_way", "orders"};

}  // namespace berth::journal
