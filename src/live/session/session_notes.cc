/// What a session notes of events, answers and records: its logs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "live/session/observed_slices.h"
#include "live/session/session.h"

namespace berth::live {
namespace {

/// A slice and who holds it, as events name them.
struct SliceEventSource {
  Slice slice;
  std::uint64_t generation = 0;  ///< 0: of others
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

/// Who holds the slice of that generation.
std::optional<ServiceId> holder_of(const Snapshot& snapshot, const Slice& slice, std::uint64_t generation) {
  for (const StandingSlice& standing : snapshot.slices_at(slice)) {
    if (standing.generation == generation) return first_of(standing.holding.services);
  }
  return std::nullopt;
}

std::string actions_text(std::size_t count) { return fmt::format("{} action{}", count, count == 1 ? "" : "s"); }

}  // namespace

void Session::append(Instant at, EventKind kind, ObjectName object, std::string message) {
  events_.append(at, kind, std::move(object), std::move(message));
}

void Session::note_record(const sim::JournalRecord& record) {
  const auto* slice = std::get_if<world::SliceRecord>(&record);
  if (slice == nullptr) return;
  tell({.at = slice->at, .what = SliceNoted{*slice}});
  if (slice->event == world::SliceEvent::kCreated) watch_.slice_created(slice->slice);
  const bool is_gone = slice->event == world::SliceEvent::kDestroyed || slice->event == world::SliceEvent::kLost;
  if (is_gone) watch_.slice_gone(slice->slice);
  if (slice->event == world::SliceEvent::kLost) note_lost(*slice);
  const auto kind = [&]() -> std::optional<EventKind> {
    switch (slice->event) {
      case world::SliceEvent::kCreated:
        return EventKind::kSliceCreated;
      case world::SliceEvent::kServing:
        return slice->role == Role::kInference ? std::optional(EventKind::kSliceServing) : std::nullopt;
      case world::SliceEvent::kDestroyed:
      case world::SliceEvent::kLost:
        return EventKind::kSliceGone;
      case world::SliceEvent::kDraining:
      case world::SliceEvent::kRetrainingStarted:
      case world::SliceEvent::kRetrainingDone:
        return std::nullopt;
    }
    return std::nullopt;
  }();
  if (!kind) return;
  events_.append(
      slice->at, *kind,
      [this, source = SliceEventSource(scenario_, slice->slice, slice->generation, first_of(slice->services))] {
        return source.words(scenario_, source.holder.empty() ? "unowned" : source.holder);
      });
}

/// The snapshot is still that from before the loss.
void Session::note_lost(const world::SliceRecord& record) {
  LostSlice lost{.slice = {.holding = {.slice = record.slice, .role = record.role, .services = record.services},
                           .generation = record.generation},
                 .seen_at = record.at};
  if (snapshot().is_orphan(lost.slice)) return;
  if (const auto seen_at = watch_.find_seen(record.slice, record.generation)) lost.seen_at = *seen_at;
  lost_slices_.add(std::move(lost));
}

void Session::note_failed(const auto& slices, const std::string& how) {
  for (const StandingSlice& standing : slices) {
    for (const ServiceId service : standing.holding.services) watch_.slice_failed(service, how);
  }
}

void Session::note_event(const Event& event) {
  tell_event(event);
  usage_.note(event);
  promises_.note(event);
  const std::vector<ActionChange> changes = plans_.apply(event);
  note_changes(changes);
  std::visit(
      Overloaded{
          [&](const GpuLost& lost) {
            append(event.at, EventKind::kGpuLost, gpu_object(lost.gpu), lost.reason);
            note_failed(snapshot().slices_on(lost.gpu), "its slice was lost with " + gpu_name(lost.gpu));
          },
          [&](const GpuReturned& returned) {
            lost_slices_.forget(returned.gpu);
            append(event.at, EventKind::kGpuReturned, gpu_object(returned.gpu), "");
          },
          [&](const GpuScheduled& scheduled) {
            const EventKind kind =
                scheduled.scheduling == GpuScheduling::kOpen ? EventKind::kGpuUncordoned : EventKind::kGpuCordoned;
            append(event.at, kind, gpu_object(scheduled.gpu), scheduled.reason);
            if (scheduled.scheduling == GpuScheduling::kDraining) {
              draining_.insert(scheduled.gpu);
            } else {
              draining_.erase(scheduled.gpu);
            }
          },
          [&](const ActionFailed& failed) {
            failed_.push_back(failed);
            const char* what = failed.kind == ActionKind::kCreation ? "creation" : "destruction";
            note_failed(snapshot().slices_at(failed.slice), fmt::format("the {} of a slice on {} failed: {}", what,
                                                                        gpu_name(failed.slice.gpu), failed.message));
            // That of the plan's action says it already.
            if (std::ranges::find(changes, ActionPhase::kFailed, &ActionChange::phase) != changes.end()) return;
            const SliceEventSource source(scenario_, failed.slice, failed.generation,
                                          holder_of(snapshot(), failed.slice, failed.generation));
            events_.append(event.at, EventKind::kActionFailed,
                           [this, source, message = fmt::format("{}: {}", what, failed.message)] {
                             return source.words(scenario_, message);
                           });
          },
          [&](const GpuObserved& observed) { note_observed(event, observed); },
          [&](const RetrainingDue& due) {
            append(event.at, EventKind::kRetrainingDue,
                   service_object(std::as_const(scenario_.services)[due.service.index]), "");
          },
          [&](const RetrainingDone& done) {
            append(event.at, EventKind::kRetrainingDone,
                   service_object(std::as_const(scenario_.services)[done.service.index]), "");
          },
          [&](const ServiceSet& set) { append(event.at, EventKind::kServiceSet, service_object(*set.spec), ""); },
          [&](const ServiceRemoved& removed) {
            append(event.at, EventKind::kServiceRemoved,
                   service_object(std::as_const(scenario_.services)[removed.service.index]), "");
          },
          [&](const PlanApproved& approved) { approval_reason_ = approved.reason; },
          [&](const PlanningPaused& paused) {
            append(event.at, EventKind::kPlanningPaused, planning_object(), paused.reason);
          },
          [&](const PlanningResumed& resumed) {
            append(event.at, EventKind::kPlanningResumed, planning_object(), resumed.reason);
          },
          [&](const NoChangesSet& set) {
            scenario_.no_changes = set.windows;
            append(event.at, EventKind::kNoChangesSet, planning_object(), words_of(set.windows.spans));
          },
          [&](const TimesMeasured& measured) { note_times(event, measured); },
          [&](const SolveFinished& finished) { arrived_ = finished.solution; },
          [](const auto&) {},
      },
      event.what);
}

void Session::note_times(const Event& event, const TimesMeasured& measured) {
  const auto& [change, time] = measured;
  const char* what = change.action == ActionKind::kCreation ? "creating" : "destroying";
  append(event.at, EventKind::kTimesMeasured, planning_object(),
         fmt::format("{} a slice {} of a {} takes {:.4g} s, by {} measured; plans counted on {:.4g} s", what,
                     change.profile, change.model, time.median.to_seconds(), time.count,
                     change_time(scenario_, change).to_seconds()));
  scenario_.measured_times[change] = time;
}

void Session::note_observed(const Event& event, const GpuObserved& observed) {
  for (const SliceNews& news : news_of(snapshot(), failed_, observed)) {
    const bool is_missing = news.kind == EventKind::kSliceMissing;
    events_.append(event.at, news.kind,
                   [this, is_missing, source = SliceEventSource(scenario_, news.slice, news.generation, news.holder)] {
                     return source.words(scenario_, is_missing ? "it is not there" : "made by others");
                   });
  }
}

void Session::note_answer(const StepAnswer& answer) {
  note_step(answer);
  // What the world is about to do is recorded first. If that fails, the solution or approval that leads to it is
  // recorded already, and the same follows from it again.
  const bool acts = !answer.plan.actions.empty() && options_.record && !is_repeating_;
  if (acts && !options_.record({})) note_recorded();
}

void Session::note_step(const StepAnswer& answer) {
  ++step_count_;
  tell_step(answer);
  // Right behind the entry of the step: what has the one has the other.
  usage_.update(snapshot(), scenario_, is_repeating_ ? options_.past_usage : options_.usage);
  if (answer.request) tell_blocks();  // the plan may stand on them
  if (answer.request) asked_count_ = answer.request->question;
  if (answer.held) watch_.proposal_waits(*answer.held);
  if (answer.ended) note_end_of_proposal(answer);
  promises_.judge(snapshot().now);
  ordered_.clear();
  note_drained();
  failed_.clear();
  const std::shared_ptr<const Solution> arrived = std::exchange(arrived_, nullptr);
  if (!arrived) return;
  if (!answer.refused) watch_.plan_made(*arrived);
  // The plan lives on with its solution.
  if (arrived->plan.actions.empty()) return;
  note_arrival({arrived, &arrived->plan}, answer);
  if (answer.held) {
    promises_.hold(arrived->plan.id, arrived->promises);
  } else {
    promises_.begin(answer.plan, arrived->promises, snapshot().now);
  }
}

/// A draining GPU became cordoned.
void Session::note_drained() {
  std::erase_if(draining_, [this](GpuId gpu) {
    if (snapshot().is_draining(gpu)) return false;
    append(snapshot().now, EventKind::kGpuDrained, gpu_object(gpu), snapshot().gpu_state(gpu).scheduling_reason);
    return true;
  });
}

void Session::note_arrival(const std::shared_ptr<const Plan>& arrived, const StepAnswer& answer) {
  const ObjectName object = plan_object(arrived->id);
  const Instant at = snapshot().now;
  append(at, EventKind::kPlanProposed, object,
         actions_text(arrived->actions.size()) + (answer.held ? "; it awaits approval" : ""));
  const std::vector<ActionChange> changes = plans_.add(arrived, scenario_, answer, snapshot());
  const std::string& message = plans_.find(arrived->id)->message;
  if (answer.held) {
    if (options_.wall_clock && !is_repeating_) {
      wait_for_approval({.plan = arrived->id, .expires_at_wall_us = options_.wall_clock() + kProposalWait.count()});
    }
  } else if (answer.refused) {
    append(at, EventKind::kPlanRefused, object, message);
  } else if (answer.paused || answer.plan.actions.empty()) {
    append(at, EventKind::kPlanSuperseded, object, message);
  } else {
    append(at, EventKind::kPlanAccepted, object,
           fmt::format("{} of {} actions", answer.plan.actions.size(), arrived->actions.size()));
  }
  note_changes(changes);
}

void Session::note_end_of_proposal(const StepAnswer& answer) {
  watch_.proposal_ended();
  promises_.end_held(answer.plan, snapshot().now);
  const ObjectName object = plan_object(answer.ended->plan);
  const Instant at = snapshot().now;
  const std::vector<ActionChange> changes = plans_.end_proposal(answer, snapshot());
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
  note_changes(changes);
}

void Session::note_changes(const std::vector<ActionChange>& changes) {
  for (const ActionChange& change : changes) {
    const auto kind = [&]() -> std::optional<EventKind> {
      switch (change.phase) {
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
    }();
    const PlanStatus* plan = plans_.find(change.plan);
    if (!kind || plan == nullptr) continue;
    const SliceChange& what = plan->plan->actions[change.action].what;
    events_.append(loop_->now(), *kind,
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
