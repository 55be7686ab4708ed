/// What a session logs of events, records and steps for people: its events, plans, conditions, usage and promises.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/lost_slices.h"
#include "live/session/plan_log.h"
#include "live/session/promise_book.h"
#include "live/session/service_watch.h"
#include "live/session/usage_book.h"
#include "sim/world/journal.h"

namespace berth::live {

/// Every log in it is bounded. `snapshot` is always the engine's present state: of an event, before it is applied.
class SessionLog {
 public:
  /// `scenario` is borrowed and read as it is now. `replans`: whether the policy makes new layouts during the run.
  SessionLog(const Scenario& scenario, bool replans);
  SessionLog(const SessionLog&) = delete;  // the words of its events refer to it
  SessionLog& operator=(const SessionLog&) = delete;

  /// Sets the function called for each action of a plan whose phase has changed; may be empty.
  void on_action(std::function<void(const PlanStatus&, const ActionChange&)> notify) { notify_ = std::move(notify); }
  void append(Instant at, EventKind kind, ObjectName object, std::string message);
  /// The world reported a change of a slice.
  void on_slice(const world::SliceRecord& slice, const Snapshot& snapshot);
  /// A fault was injected or cleared.
  void on_fault(const FaultGiven& given, Instant now);
  /// The engine is given an event. To be called before the scenario changes by it.
  void on_event(const Event& event, const Snapshot& snapshot, Instant now);
  /// The engine stepped. Returns the plan that waits for approval from now on, if it arrived with this step.
  std::optional<std::uint64_t> on_step(const StepAnswer& answer, const Snapshot& snapshot, Instant now);
  /// Nothing was observed from `from` to `to` (UsageBook::skip).
  void skip(Instant from, Instant to, const UsageSink& sink) {
    usage_.skip(from, to, sink);
    promises_.skip_to(to);
  }
  /// The service is gone from its place.
  void forget(ServiceId service) {
    watch_.forget(service);
    lost_slices_.forget(service);
  }

  [[nodiscard]] const EventLog& events() const { return events_; }
  [[nodiscard]] PlanLog& plans() { return plans_; }
  [[nodiscard]] const PlanLog& plans() const { return plans_; }
  [[nodiscard]] ServiceWatch& watch() { return watch_; }
  [[nodiscard]] const ServiceWatch& watch() const { return watch_; }
  [[nodiscard]] const LostSlices& lost_slices() const { return lost_slices_; }
  /// Whether a drain of the GPU has finished, and it was not opened since.
  [[nodiscard]] bool is_drained(GpuId gpu, const Snapshot& snapshot) const {
    return drained_.contains(gpu) || (draining_.contains(gpu) && !snapshot.is_draining(gpu));
  }
  [[nodiscard]] UsageBook& usage() { return usage_; }
  [[nodiscard]] const UsageBook& usage() const { return usage_; }
  [[nodiscard]] PromiseBook& promises() { return promises_; }
  [[nodiscard]] const PromiseBook& promises() const { return promises_; }

  /// For which instant the latest plan was made that arrived, also one that changes nothing; absent: none did since the
  /// log was made. Plans that were refused do not count.
  [[nodiscard]] std::optional<Instant> planned_at() const { return planned_at_; }

  // As bytes: its parts of a saved session, in their order.
  template <class Archive, class Self>
  static void archive_plans(Archive& archive, Self& self) {
    archive(self.events_, self.plans_, self.approval_reason_);
  }
  template <class Archive, class Self>
  static void archive_conditions(Archive& archive, Self& self) {
    archive(self.watch_, self.lost_slices_, self.usage_);
  }
  template <class Archive, class Self>
  static void archive_draining(Archive& archive, Self& self) {
    archive(self.draining_);
  }
  template <class Archive, class Self>
  static void archive_drained(Archive& archive, Self& self) {
    archive(self.drained_);
  }
  /// Finds the drained GPUs in the events that are kept: for saved sessions that do not have them.
  void recall_drained();

 private:
  void on_lost_slice(const world::SliceRecord& record, const Snapshot& snapshot);
  void on_failed(const SliceRange& slices, const std::string& how);
  void on_lost_gpu(Instant at, const GpuLost& lost, const Snapshot& snapshot);
  void on_scheduled(Instant at, const GpuScheduled& scheduled);
  void on_failed_action(Instant at, const ActionFailed& failed, const std::vector<ActionChange>& changes,
                        const Snapshot& snapshot);
  void on_times(Instant at, const TimesMeasured& measured);
  void on_speed(Instant at, const SpeedMeasured& measured);
  void on_observed(Instant at, const GpuObserved& observed, const Snapshot& snapshot);
  void on_arrival(const std::shared_ptr<const Plan>& arrived, const StepAnswer& answer, const Snapshot& snapshot,
                  Instant now);
  void on_ended_proposal(const StepAnswer& answer, const Snapshot& snapshot, Instant now);
  void append_drained(const Snapshot& snapshot);
  void append_changes(const std::vector<ActionChange>& changes, Instant now);

  const Scenario& scenario_;
  std::function<void(const PlanStatus&, const ActionChange&)> notify_;
  EventLog events_;
  PlanLog plans_;
  ServiceWatch watch_;
  LostSlices lost_slices_;
  UsageBook usage_;
  PromiseBook promises_;
  std::shared_ptr<const Solution> arrived_;  ///< to be applied by the next step; null: none
  std::optional<Instant> planned_at_;        ///< not saved
  std::string approval_reason_;              ///< of the last approval
  std::vector<ActionFailed> failed_;         ///< since the last step
  std::set<GpuId> draining_;                 ///< as far as the engine knows
  std::set<GpuId> drained_;                  ///< since they were last open
};

}  // namespace berth::live
