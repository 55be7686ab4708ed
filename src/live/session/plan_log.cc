#include "live/session/plan_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "domain/values/constraint.h"
#include "engine/loop/engine.h"

namespace berth::live {
namespace {

/// The generation of the slice of an accepted action, when the plan has taken effect.
std::uint64_t generation_of(const Snapshot& snapshot, const Action& accepted) {
  if (std::holds_alternative<CreateSlice>(accepted.what)) return accepted.number;
  const bool goes = std::holds_alternative<DestroySlice>(accepted.what);
  std::uint64_t generation = 0;
  for (const StandingSlice& standing : snapshot.slices_at(slice_of(accepted.what))) {
    if (standing.is_leaving == goes) generation = std::max(generation, standing.generation);
  }
  return generation;
}

/// The failures of a plan that is done.
std::string failures_text(const ActionStates& states) {
  std::size_t failed = 0;
  for (std::size_t index = 0; index < states.size(); ++index) {
    failed += states.phase(index) == ActionPhase::kFailed ? 1 : 0;
  }
  return failed == 0 ? "" : fmt::format("{} of {} actions failed", failed, states.size());
}

/// The number that the world reports when the plan's changes of a slice are done: that of the last assignment.
using AssignmentNumbers = std::map<Slice, std::uint64_t>;

AssignmentNumbers assignment_numbers(const Plan& accepted) {
  AssignmentNumbers numbers;
  for (const Action& action : accepted.actions) {
    if (std::holds_alternative<AssignSlice>(action.what)) numbers[slice_of(action.what)] = action.number;
  }
  return numbers;
}

/// The number that the world reports when an accepted action is done: for a creation followed by an assignment the
/// number of the assignment, for a destruction the generation of the destroyed slice.
std::uint64_t reported_number(const Action& accepted, const AssignmentNumbers& assignments, const Snapshot& snapshot) {
  if (std::holds_alternative<DestroySlice>(accepted.what)) return generation_of(snapshot, accepted);
  if (!std::holds_alternative<CreateSlice>(accepted.what)) return accepted.number;
  const auto it = assignments.find(slice_of(accepted.what));
  return it == assignments.end() ? accepted.number : std::max(it->second, accepted.number);
}

const DroppedPart* dropped_part(const StepAnswer& answer, GpuId gpu) {
  const auto it = std::ranges::find(answer.dropped, gpu, &DroppedPart::gpu);
  return it == answer.dropped.end() ? nullptr : &*it;
}

std::vector<std::string> conflict_names(const Plan& plan, const Scenario& scenario) {
  std::vector<std::string> names;
  const auto* conflict = plan.unmet_floors ? std::get_if<ProvenConflict>(&*plan.unmet_floors) : nullptr;
  if (conflict == nullptr) return names;
  for (const ConstraintId& id : conflict->constraints) names.push_back(constraint_name(scenario, id));
  return names;
}

}  // namespace

std::string_view word(PlanPhase phase) {
  switch (phase) {
    case PlanPhase::kAwaitingApproval:
      return "awaiting_approval";
    case PlanPhase::kActing:
      return "acting";
    case PlanPhase::kDone:
      return "done";
    case PlanPhase::kExpired:
      return "expired";
    case PlanPhase::kRefused:
      return "refused";
    case PlanPhase::kSuperseded:
      return "superseded";
  }
  return "";
}

std::string_view word(ActionPhase phase) {
  switch (phase) {
    case ActionPhase::kPlanned:
      return "planned";
    case ActionPhase::kRunning:
      return "running";
    case ActionPhase::kDone:
      return "done";
    case ActionPhase::kFailed:
      return "failed";
    case ActionPhase::kDropped:
      return "dropped";
  }
  return "";
}

std::optional<double> gap_of(const Plan& plan) {
  if (!plan.objective || !plan.bound || *plan.bound == 0) return std::nullopt;
  return (*plan.bound - *plan.objective) / std::abs(*plan.bound);
}

void ActionStates::set(std::size_t index, ActionPhase phase, const std::string& message) {
  if (!message.empty() && message != messages_.back()) messages_.push_back(message);
  const std::size_t place = message.empty() ? 0 : messages_.size() - 1;
  states_[index].phase = phase;
  states_[index].message = static_cast<std::uint32_t>(place);
}

std::vector<ActionChange> PlanLog::add(const std::shared_ptr<const Plan>& arrived, const Scenario& scenario,
                                       const StepAnswer& answer, const Snapshot& snapshot) {
  std::vector<ActionChange> changes;
  keep({.plan = arrived,
        .names = std::make_shared<const ServiceNames>(*arrived, scenario),
        .conflict = conflict_names(*arrived, scenario),
        .acts_at = {},
        .phase = PlanPhase::kDone,
        .message = {},
        .difference = {},
        .actions = SharedValue(ActionStates(arrived->actions.size()))});
  PlanStatus& status = plans_.back();
  for (std::size_t index = 0; !answer.dropped.empty() && index < arrived->actions.size(); ++index) {
    const DroppedPart* part = dropped_part(answer, slice_of(arrived->actions[index].what).gpu);
    if (part == nullptr) continue;
    status.actions.change().set(index, ActionPhase::kDropped, part->why);
    changes.push_back({.plan = arrived->id, .action = index, .phase = ActionPhase::kDropped, .message = part->why});
  }
  if (answer.held) {
    enter(status, PlanPhase::kAwaitingApproval);
  } else if (answer.refused || answer.paused) {
    enter(status, answer.refused ? PlanPhase::kRefused : PlanPhase::kSuperseded);
    status.message = answer.refused ? *answer.refused : "planning is paused: " + *answer.paused;
    drop(status, status.message, changes);
  } else if (answer.plan.actions.empty()) {
    enter(status, PlanPhase::kSuperseded);
    status.message = "what it stands on has changed on each of its GPUs";
  } else {
    begin(status, answer, snapshot, changes);
  }
  return counted(std::move(changes));
}

void PlanLog::enter(PlanStatus& status, PlanPhase phase) {
  status.phase = phase;
  ++counts_.plans[static_cast<std::size_t>(phase)];
}

std::vector<ActionChange> PlanLog::counted(std::vector<ActionChange> changes) {
  for (const ActionChange& change : changes) {
    const PlanStatus* plan = find(change.plan);
    if (plan == nullptr) continue;
    const std::size_t kind = plan->plan->actions[change.action].what.index();
    ++counts_.actions[kind][static_cast<std::size_t>(change.phase)];
  }
  return changes;
}

/// Adds a plan and forgets old ones; their actions that still run then belong to no plan.
void PlanLog::keep(PlanStatus status) {
  action_count_ += status.actions->size();
  plans_.push_back(std::move(status));
  while (plans_.size() > 1 && (plans_.size() > kCapacity || action_count_ > kActionsMax)) {
    action_count_ -= plans_.front().actions->size();
    plans_.pop_front();
  }
}

std::vector<ActionChange> PlanLog::end_proposal(const StepAnswer& answer, const Snapshot& snapshot) {
  std::vector<ActionChange> changes;
  PlanStatus* status = find_mutable(answer.ended->plan);
  if (status == nullptr) return changes;
  switch (answer.ended->end) {
    case ProposalEnd::kApproved:
      begin(*status, answer, snapshot, changes);
      return counted(std::move(changes));
    case ProposalEnd::kExpired:
      enter(*status, PlanPhase::kExpired);
      status->message = "it was not approved in time";
      break;
    case ProposalEnd::kSuperseded:
      enter(*status, PlanPhase::kSuperseded);
      status->difference = answer.ended->difference;
      status->message = fmt::format("{}", fmt::join(status->difference, "; "));
      break;
  }
  drop(*status, status->message, changes);
  return counted(std::move(changes));
}

void PlanLog::begin(PlanStatus& status, const StepAnswer& answer, const Snapshot& snapshot,
                    std::vector<ActionChange>& changes) {
  const std::uint64_t id = status.plan->id;
  ActionStates& states = status.actions.change();
  std::vector<std::size_t> begun;  // indices of actions; those of the accepted plan are the same, in the same order
  for (std::size_t index = 0; index < states.size() && begun.size() < answer.plan.actions.size(); ++index) {
    if (states.phase(index) != ActionPhase::kPlanned) continue;
    states.set(index, ActionPhase::kRunning, "");
    begun.push_back(index);
    changes.push_back({.plan = id, .action = index, .phase = ActionPhase::kRunning, .message = {}});
  }
  enter(status, begun.empty() ? PlanPhase::kDone : PlanPhase::kActing);
  status.running_count = begun.size();
  if (!begun.empty()) status.acts_at = snapshot.now;
  for (const Action& accepted : answer.plan.actions) replace_earlier(slice_of(accepted.what), id, changes);
  const AssignmentNumbers assignments = assignment_numbers(answer.plan);
  for (std::size_t i = 0; i < begun.size(); ++i) {
    const Action& accepted = answer.plan.actions[i];
    states.set_generation(begun[i], generation_of(snapshot, accepted));
    const std::uint64_t number = reported_number(accepted, assignments, snapshot);
    running_[{slice_of(accepted.what).gpu, number}].push_back({.plan = id, .action = begun[i]});
  }
}

void PlanLog::drop(PlanStatus& status, const std::string& why, std::vector<ActionChange>& changes) {
  ActionStates& states = status.actions.change();
  for (std::size_t index = 0; index < states.size(); ++index) {
    if (states.phase(index) != ActionPhase::kPlanned) continue;
    states.set(index, ActionPhase::kDropped, why);
    changes.push_back({.plan = status.plan->id, .action = index, .phase = ActionPhase::kDropped, .message = why});
  }
}

void PlanLog::replace_earlier(const Slice& slice, std::uint64_t by, std::vector<ActionChange>& changes) {
  std::vector<std::uint64_t> numbers;
  for (auto it = running_.lower_bound({slice.gpu, 0}); it != running_.end() && it->first.first == slice.gpu; ++it) {
    const Running& first = it->second.front();
    const PlanStatus* plan = find(first.plan);
    if (plan == nullptr) continue;
    const SliceChange& what = plan->plan->actions[first.action].what;
    if (std::holds_alternative<DestroySlice>(what)) continue;
    if (slice_of(what) == slice) numbers.push_back(it->first.second);
  }
  for (const std::uint64_t number : numbers) {
    const std::string why = fmt::format("plan {} decided otherwise before it was done", by);
    end(slice.gpu, number, ActionPhase::kDropped, why, changes);
  }
}

std::vector<ActionChange> PlanLog::apply(const Event& event) {
  std::vector<ActionChange> changes;
  std::visit(
      Overloaded{
          [&](const SliceReady& ready) { end(ready.slice.gpu, ready.assignment, ActionPhase::kDone, "", changes); },
          [&](const SliceGone& gone) { end(gone.slice.gpu, gone.generation, ActionPhase::kDone, "", changes); },
          [&](const ActionFailed& failed) {
            const bool is_creation = failed.kind == ActionKind::kCreation;
            const std::uint64_t number = is_creation ? failed.assignment : failed.generation;
            end(failed.slice.gpu, number, ActionPhase::kFailed, failed.message, changes);
          },
          [&](const GpuLost& lost) {
            while (true) {
              const auto it = running_.lower_bound({lost.gpu, 0});
              if (it == running_.end() || it->first.first != lost.gpu) return;
              end(lost.gpu, it->first.second, ActionPhase::kFailed, "the GPU was lost", changes);
            }
          },
          [](const auto&) {},
      },
      event.what);
  return counted(std::move(changes));
}

void PlanLog::end(GpuId gpu, std::uint64_t number, ActionPhase phase, const std::string& message,
                  std::vector<ActionChange>& changes) {
  const auto node = running_.extract({gpu, number});
  if (node.empty()) return;
  bool creation_fails = false;  // an assignment of the same plan follows it
  for (const Running& running : node.mapped()) {
    PlanStatus* plan = find_mutable(running.plan);
    if (plan == nullptr) continue;  // forgotten
    const SliceChange& what = plan->plan->actions[running.action].what;
    creation_fails = creation_fails || (phase == ActionPhase::kFailed && std::holds_alternative<CreateSlice>(what));
    const bool is_spared = creation_fails && std::holds_alternative<AssignSlice>(what);
    const ActionPhase ends_as = is_spared ? ActionPhase::kDropped : phase;
    const std::string why = is_spared ? "the creation of its slice failed" : message;
    plan->actions.change().set(running.action, ends_as, why);
    changes.push_back({.plan = running.plan, .action = running.action, .phase = ends_as, .message = why});
    if (--plan->running_count > 0 || plan->phase != PlanPhase::kActing) continue;
    enter(*plan, PlanPhase::kDone);
    plan->message = failures_text(*plan->actions);
  }
}

void PlanLog::set_wall_expiry(std::uint64_t id, std::int64_t expires_at_wall_us) {
  if (PlanStatus* plan = find_mutable(id)) plan->expires_at_wall_us = expires_at_wall_us;
}

PlanStatus* PlanLog::find_mutable(std::uint64_t id) {
  const auto id_of = [](const PlanStatus& each) { return each.plan->id; };
  const auto it = std::ranges::lower_bound(plans_, id, {}, id_of);
  return it == plans_.end() || it->plan->id != id ? nullptr : &*it;
}

const PlanStatus* PlanLog::find(std::uint64_t id) const {
  const auto id_of = [](const PlanStatus& each) { return each.plan->id; };
  const auto it = std::ranges::lower_bound(plans_, id, {}, id_of);
  return it == plans_.end() || it->plan->id != id ? nullptr : &*it;
}

const PlanStatus* PlanLog::current() const {
  for (auto it = plans_.rbegin(); it != plans_.rend(); ++it) {
    if (it->phase == PlanPhase::kActing || it->phase == PlanPhase::kAwaitingApproval) return &*it;
  }
  return plans_.empty() ? nullptr : &plans_.back();
}

}  // namespace berth::live
