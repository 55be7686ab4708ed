#include "live/session/session_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "domain/values/solution.h"
#include "domain/values/start_times.h"
#include "engine/loop/engine.h"
#include "live/session/fault_text.h"
#include "live/session/object_names.h"
#include "live/session/observed_slices.h"
#include "live/session/speed_estimator.h"

namespace berth::live {
namespace {

/// A slice and its holder, as events name them.
struct SliceEventSource {
  Slice slice;
  std::uint64_t generation = 0;  ///< 0: foreign
  std::string holder;            ///< "tenant/name"; empty: unowned
  std::size_t tenant_size = 0;   ///< of `holder`

  SliceEventSource(const Scenario& scenario, const Slice& of, std::uint64_t number, std::optional<ServiceId> service)
      : slice(of), generation(number) {
    if (!service) return;
    const ServiceSpec& spec = scenario.services[service->index];
    tenant_size = spec.tenant.size();
    holder.reserve(tenant_size + 1 + spec.name.size());
    holder.append(spec.tenant).append("/").append(spec.name);
  }
  [[nodiscard]] EventWords words(const Scenario& scenario, std::string message) const {
    return {.object = {.kind = ObjectKind::kGpuSlice,
                       .tenant = holder.substr(0, tenant_size),
                       .name = slice_name(scenario, slice, generation)},
            .message = std::move(message),
            .generation = generation == 0 ? std::nullopt : std::optional(generation)};
  }
};

std::optional<ServiceId> first_of(const std::vector<ServiceId>& services) {
  return services.empty() ? std::nullopt : std::optional(services.front());
}

/// The holder of the slice of that generation.
std::optional<ServiceId> holder_of(const Snapshot& snapshot, const Slice& slice, std::uint64_t generation) {
  for (const StandingSlice& standing : snapshot.slices_at(slice)) {
    if (standing.generation == generation) return first_of(standing.holding.services);
  }
  return std::nullopt;
}

std::string actions_text(std::size_t count) { return fmt::format("{} action{}", count, count == 1 ? "" : "s"); }

/// The kind of event for a record of a slice, if clients are shown it.
std::optional<EventKind> kind_of(const world::SliceRecord& slice) {
  switch (slice.event) {
    case world::SliceEvent::kCreated:
      return EventKind::kSliceCreated;
    case world::SliceEvent::kServing:
      return slice.role == Role::kInference ? std::optional(EventKind::kSliceServing) : std::nullopt;
    case world::SliceEvent::kDestroyed:
    case world::SliceEvent::kLost:
      return EventKind::kSliceGone;
    case world::SliceEvent::kDraining:
    case world::SliceEvent::kRetrainingStarted:
    case world::SliceEvent::kRetrainingDone:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The kind of event for a new phase of an action; planned: none.
std::optional<EventKind> kind_of(ActionPhase phase) {
  switch (phase) {
    case ActionPhase::kPlanned:
      return std::nullopt;
    case ActionPhase::kRunning:
      return EventKind::kActionIntended;
    case ActionPhase::kDone:
      return EventKind::kActionDone;
    case ActionPhase::kFailed:
      return EventKind::kActionFailed;
    case ActionPhase::kDropped:
      return EventKind::kActionDropped;
  }
  return std::nullopt;
}

/// The word of an action in messages.
const char* word_of(ActionKind kind) { return kind == ActionKind::kCreation ? "creation" : "destruction"; }

}  // namespace

SessionLog::SessionLog(const Scenario& scenario, bool replans)
    : scenario_(scenario), watch_(scenario, replans), usage_(scenario) {}

void SessionLog::append(Instant at, EventKind kind, ObjectName object, std::string message) {
  events_.append(at, kind, std::move(object), std::move(message));
}

// ---- records of the world

void SessionLog::on_slice(const world::SliceRecord& slice, const Snapshot& snapshot) {
  if (slice.event == world::SliceEvent::kCreated) watch_.slice_created(slice.slice);
  const bool is_gone = slice.event == world::SliceEvent::kDestroyed || slice.event == world::SliceEvent::kLost;
  if (is_gone) watch_.slice_gone(slice.slice);
  if (slice.event == world::SliceEvent::kLost) on_lost_slice(slice, snapshot);
  const auto kind = kind_of(slice);
  if (!kind) return;
  events_.append(slice.at, *kind,
                 [this, source = SliceEventSource(scenario_, slice.slice, slice.generation, first_of(slice.services))] {
                   return source.words(scenario_, source.holder.empty() ? "unowned" : source.holder);
                 });
}

/// The snapshot is still the one before the loss.
void SessionLog::on_lost_slice(const world::SliceRecord& record, const Snapshot& snapshot) {
  LostSlice lost{.slice = {.holding = {.slice = record.slice, .role = record.role, .services = record.services},
                           .generation = record.generation},
                 .seen_at = record.at};
  if (snapshot.is_orphan(lost.slice)) return;
  if (const auto seen_at = watch_.find_seen(record.slice, record.generation)) lost.seen_at = *seen_at;
  lost_slices_.add(std::move(lost));
}

void SessionLog::on_fault(const FaultGiven& given, Instant now) {
  const std::string text = fault_text(scenario_, given.order);
  if (given.order.kind != sim::FaultKind::kClear) {
    append(now, EventKind::kFaultInjected, fault_object(given.id), text);
  }
  for (const std::uint64_t id : given.cleared) append(now, EventKind::kFaultCleared, fault_object(id), text);
}

// ---- events

/// Records for the holders of these slices that they do not have them as they should.
void SessionLog::on_failed(const SliceRange& slices, const std::string& how) {
  for (const StandingSlice& standing : slices) {
    for (const ServiceId service : standing.holding.services) watch_.slice_failed(service, how);
  }
}

void SessionLog::on_event(const Event& event, const Snapshot& snapshot, Instant now) {
  usage_.note(event);
  promises_.note(event);
  const std::vector<ActionChange> changes = plans_.apply(event);
  append_changes(changes, now);
  const auto on_service = [&](EventKind kind, ServiceId service) {
    append(event.at, kind, service_object(scenario_.services[service.index]), "");
  };
  std::visit(
      Overloaded{
          [&](const GpuLost& lost) { on_lost_gpu(event.at, lost, snapshot); },
          [&](const GpuReturned& returned) {
            lost_slices_.forget(returned.gpu);
            append(event.at, EventKind::kGpuReturned, gpu_object(returned.gpu), "");
          },
          [&](const GpuScheduled& scheduled) { on_scheduled(event.at, scheduled); },
          [&](const ActionFailed& failed) { on_failed_action(event.at, failed, changes, snapshot); },
          [&](const GpuObserved& observed) { on_observed(event.at, observed, snapshot); },
          [&](const RetrainingDue& due) { on_service(EventKind::kRetrainingDue, due.service); },
          [&](const RetrainingDone& done) { on_service(EventKind::kRetrainingDone, done.service); },
          [&](const ServiceSet& set) { append(event.at, EventKind::kServiceSet, service_object(*set.spec), ""); },
          [&](const ServiceRemoved& removed) { on_service(EventKind::kServiceRemoved, removed.service); },
          [&](const PlanApproved& approved) { approval_reason_ = approved.reason; },
          [&](const PlanningPaused& paused) {
            append(event.at, EventKind::kPlanningPaused, planning_object(), paused.reason);
          },
          [&](const PlanningResumed& resumed) {
            append(event.at, EventKind::kPlanningResumed, planning_object(), resumed.reason);
          },
          [&](const NoChangesSet& set) {
            append(event.at, EventKind::kNoChangesSet, planning_object(), words_of(set.windows.spans));
          },
          [&](const TimesMeasured& measured) { on_times(event.at, measured); },
          [&](const SpeedMeasured& measured) { on_speed(event.at, measured); },
          [&](const TierMeasured& measured) {
            append(event.at, EventKind::kTierMeasured, service_object(scenario_.services[measured.service.index]),
                   "its rows on " + measured.gpu + " are known from now on");
          },
          [&](const SolveFinished& finished) { arrived_ = finished.solution; },
          [](const auto&) {},
      },
      event.what);
}

void SessionLog::on_lost_gpu(Instant at, const GpuLost& lost, const Snapshot& snapshot) {
  append(at, EventKind::kGpuLost, gpu_object(lost.gpu), lost.reason);
  on_failed(snapshot.slices_on(lost.gpu), "its slice was lost with " + gpu_name(lost.gpu));
}

void SessionLog::on_scheduled(Instant at, const GpuScheduled& scheduled) {
  EventKind kind = EventKind::kGpuCordoned;
  if (scheduled.scheduling == GpuScheduling::kOpen) kind = EventKind::kGpuUncordoned;
  if (scheduled.scheduling == GpuScheduling::kAbsent) {
    kind = EventKind::kGpuAbsent;
    lost_slices_.forget(scheduled.gpu);
  }
  append(at, kind, gpu_object(scheduled.gpu), scheduled.reason);
  if (scheduled.scheduling == GpuScheduling::kOpen) drained_.erase(scheduled.gpu);
  if (scheduled.scheduling == GpuScheduling::kDraining) {
    draining_.insert(scheduled.gpu);
  } else {
    draining_.erase(scheduled.gpu);
  }
}

void SessionLog::on_failed_action(Instant at, const ActionFailed& failed, const std::vector<ActionChange>& changes,
                                  const Snapshot& snapshot) {
  failed_.push_back(failed);
  const char* what = word_of(failed.kind);
  on_failed(snapshot.slices_at(failed.slice),
            fmt::format("the {} of a slice on {} failed: {}", what, gpu_name(failed.slice.gpu), failed.message));
  // The event of the plan's action says so already.
  if (std::ranges::find(changes, ActionPhase::kFailed, &ActionChange::phase) != changes.end()) return;
  const SliceEventSource source(scenario_, failed.slice, failed.generation,
                                holder_of(snapshot, failed.slice, failed.generation));
  events_.append(at, EventKind::kActionFailed, [this, source, message = fmt::format("{}: {}", what, failed.message)] {
    return source.words(scenario_, message);
  });
}

void SessionLog::on_times(Instant at, const TimesMeasured& measured) {
  const auto& [change, time] = measured;
  if (is_start(change)) {
    return append(at, EventKind::kTimesMeasured, planning_object(),
                  fmt::format("starting {} takes {:.4g} s, by {} measured; plans counted on {:.4g} s", change.model,
                              time.median.to_seconds(), time.count,
                              start_time(scenario_, change).value_or(time.median).to_seconds()));
  }
  const char* what = change.action == ActionKind::kCreation ? "creating" : "destroying";
  append(at, EventKind::kTimesMeasured, planning_object(),
         fmt::format("{} a slice {} of a {} takes {:.4g} s, by {} measured; plans counted on {:.4g} s", what,
                     change.profile, change.model, time.median.to_seconds(), time.count,
                     change_time(scenario_, change).to_seconds()));
}

void SessionLog::on_speed(Instant at, const SpeedMeasured& measured) {
  const SpeedPlace& place = measured.place;
  const Decimal before = speed_reported(scenario_.speeds, place);
  const std::string where = fmt::format("{} of {}", place.profile, place.gpu);
  const std::string text =
      measured.factor
          ? fmt::format("batches on {} take {:.4g} x the table's time, by {} measured; {} {:.4g}", where,
                        measured.factor->to_double(), measured.batches,
                        measured.is_used ? "plans counted on" : "reported only; before it was", before.to_double())
          : fmt::format("no batches on {} for {:.0f} minutes: {:.4g} x the table's time no longer holds", where,
                        kSpeedEnd.to_seconds() / 60, before.to_double());
  append(at, EventKind::kSpeedDrift, service_object(scenario_.services[place.service.index]), text);
}

void SessionLog::on_observed(Instant at, const GpuObserved& observed, const Snapshot& snapshot) {
  for (const SliceNews& news : news_of(snapshot, failed_, observed)) {
    const bool is_missing = news.kind == EventKind::kSliceMissing;
    events_.append(at, news.kind,
                   [this, is_missing, source = SliceEventSource(scenario_, news.slice, news.generation, news.holder)] {
                     return source.words(scenario_, is_missing ? "it is not there" : "made by others");
                   });
  }
}

// ---- steps

std::optional<std::uint64_t> SessionLog::on_step(const StepAnswer& answer, const Snapshot& snapshot, Instant now) {
  for (const TierChoice& choice : answer.tiers) {
    append(now, EventKind::kTierChosen, service_object(scenario_.services[choice.service.index]), text_of(choice));
  }
  if (answer.held) watch_.proposal_waits(*answer.held);
  if (answer.ended) on_ended_proposal(answer, snapshot, now);
  promises_.judge(snapshot.now);
  append_drained(snapshot);
  failed_.clear();
  const std::shared_ptr<const Solution> arrived = std::exchange(arrived_, nullptr);
  if (!arrived) return std::nullopt;
  if (!answer.refused) {
    watch_.plan_made(*arrived);
    planned_at_ = arrived->plan.made_at;
  }
  // The plan shares ownership with its solution.
  if (arrived->plan.actions.empty()) return std::nullopt;
  on_arrival({arrived, &arrived->plan}, answer, snapshot, now);
  if (!answer.held) {
    promises_.begin(answer.plan, arrived->promises, snapshot.now);
    return std::nullopt;
  }
  promises_.hold(arrived->plan.id, arrived->promises);
  return arrived->plan.id;
}

/// Logs each draining GPU that became cordoned.
void SessionLog::append_drained(const Snapshot& snapshot) {
  std::erase_if(draining_, [&](GpuId gpu) {
    if (snapshot.is_draining(gpu)) return false;
    drained_.insert(gpu);
    append(snapshot.now, EventKind::kGpuDrained, gpu_object(gpu), snapshot.gpu_state(gpu).scheduling_reason);
    return true;
  });
}

void SessionLog::recall_drained() {
  const std::uint64_t oldest = events_.oldest_sequence();
  for (const LoggedEvent& event : events_.after(oldest - 1, events_.last_sequence() + 1 - oldest)) {
    const auto gpu = event.object.kind == ObjectKind::kGpu ? find_gpu(scenario_, event.object.name) : std::nullopt;
    if (!gpu) continue;
    if (event.kind == EventKind::kGpuDrained) drained_.insert(*gpu);
    if (event.kind == EventKind::kGpuUncordoned) drained_.erase(*gpu);
  }
}

void SessionLog::on_arrival(const std::shared_ptr<const Plan>& arrived, const StepAnswer& answer,
                            const Snapshot& snapshot, Instant now) {
  const ObjectName object = plan_object(arrived->id);
  const Instant at = snapshot.now;
  append(at, EventKind::kPlanProposed, object,
         actions_text(arrived->actions.size()) + (answer.held ? "; it awaits approval" : ""));
  const std::vector<ActionChange> changes = plans_.add(arrived, scenario_, answer, snapshot);
  const std::string& message = plans_.find(arrived->id)->message;
  if (answer.held) {
    // Its approval, or its end, is an event of its own.
  } else if (answer.refused) {
    append(at, EventKind::kPlanRefused, object, message);
  } else if (answer.paused || answer.plan.actions.empty()) {
    append(at, EventKind::kPlanSuperseded, object, message);
  } else {
    append(at, EventKind::kPlanAccepted, object,
           fmt::format("{} of {} actions", answer.plan.actions.size(), arrived->actions.size()));
  }
  append_changes(changes, now);
}

void SessionLog::on_ended_proposal(const StepAnswer& answer, const Snapshot& snapshot, Instant now) {
  watch_.proposal_ended();
  promises_.end_held(answer.plan, snapshot.now);
  const ObjectName object = plan_object(answer.ended->plan);
  const Instant at = snapshot.now;
  const std::vector<ActionChange> changes = plans_.end_proposal(answer, snapshot);
  const PlanStatus* status = plans_.find(answer.ended->plan);
  const std::string message = status == nullptr ? "" : status->message;
  switch (answer.ended->end) {
    case ProposalEnd::kApproved:
      append(at, EventKind::kPlanApproved, object, approval_reason_);
      append(at, EventKind::kPlanAccepted, object, actions_text(answer.plan.actions.size()));
      break;
    case ProposalEnd::kExpired:
      append(at, EventKind::kPlanExpired, object, message);
      break;
    case ProposalEnd::kSuperseded:
      append(at, EventKind::kPlanSuperseded, object, message);
      break;
  }
  append_changes(changes, now);
}

void SessionLog::append_changes(const std::vector<ActionChange>& changes, Instant now) {
  for (const ActionChange& change : changes) {
    const auto kind = kind_of(change.phase);
    const PlanStatus* plan = plans_.find(change.plan);
    if (!kind || plan == nullptr) continue;
    if (notify_) notify_(*plan, change);
    const SliceChange& what = plan->plan->actions[change.action].what;
    events_.append(now, *kind,
                   [this, change, word = action_word(what), slice = slice_of(what),
                    generation = plan->actions->generation(change.action)] {
                     const bool is_known = generation > 0;
                     const std::string name =
                         is_known ? slice_name(scenario_, slice, generation) : place_name(scenario_, slice);
                     return EventWords{.object = plan_object(change.plan),
                                       .message = fmt::format("action {}: {} {}{}{}", change.action + 1, word, name,
                                                              change.message.empty() ? "" : ": ", change.message),
                                       .generation = is_known ? std::optional(generation) : std::nullopt};
                   });
  }
}

}  // namespace berth::live
