#include "live/plan_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/overloaded.h"

namespace berth::live {
namespace {

/// The generation of the slice that is leaving at that place.
std::uint64_t leaving_generation(const Snapshot& snapshot, const Slice& slice) {
  std::uint64_t generation = 0;
  for (const StandingSlice& standing : snapshot.slices_at(slice)) {
    if (standing.is_leaving) generation = std::max(generation, standing.generation);
  }
  return generation;
}

/// The number that the world reports when what a plan does to a slice is done: that of the last assignment.
using AssignmentNumbers = std::map<Slice, std::uint64_t>;

AssignmentNumbers assignment_numbers(const Plan& accepted) {
  AssignmentNumbers numbers;
  for (const Action& action : accepted.actions) {
    if (std::holds_alternative<AssignSlice>(action.what)) numbers[slice_of(action.what)] = action.number;
  }
  return numbers;
}

/// The number that the world reports when an action is done: of a creation that is followed by an assignment that of
/// the latter, of a destruction the generation of the slice that goes.
std::uint64_t reported_number(const ActionStatus& status, const AssignmentNumbers& assignments) {
  if (std::holds_alternative<DestroySlice>(status.action.what)) return status.generation;
  if (!std::holds_alternative<CreateSlice>(status.action.what)) return status.action.number;
  const auto it = assignments.find(slice_of(status.action.what));
  return it == assignments.end() ? status.action.number : std::max(it->second, status.action.number);
}

const DroppedPart* dropped_part(const StepAnswer& answer, GpuId gpu) {
  const auto it = std::ranges::find(answer.dropped, gpu, &DroppedPart::gpu);
  return it == answer.dropped.end() ? nullptr : &*it;
}

}  // namespace

std::vector<ActionChange> PlanLog::add(const Plan& arrived, const StepAnswer& answer, const Snapshot& snapshot) {
  std::vector<ActionChange> changes;
  plans_.push_back(
      {.plan = arrived, .acts_at = {}, .phase = PlanPhase::kDone, .message = {}, .difference = {}, .actions = {}});
  if (plans_.size() > kCapacity) plans_.pop_front();
  PlanStatus& status = plans_.back();
  for (const Action& action : arrived.actions) {
    const DroppedPart* part = dropped_part(answer, slice_of(action.what).gpu);
    ActionStatus each{.action = action, .phase = ActionPhase::kPlanned, .message = {}};
    if (part != nullptr) {
      each.phase = ActionPhase::kDropped;
      each.message = part->why;
      changes.push_back(
          {.plan = arrived.id, .action = status.actions.size(), .phase = each.phase, .message = each.message});
    }
    status.actions.push_back(std::move(each));
  }
  if (answer.held) {
    status.phase = PlanPhase::kAwaitingApproval;
  } else if (answer.refused || answer.paused) {
    status.phase = answer.refused ? PlanPhase::kRefused : PlanPhase::kSuperseded;
    status.message = answer.refused ? *answer.refused : "planning is paused: " + *answer.paused;
    drop(status, status.message, changes);
  } else {
    begin(status, answer, snapshot, changes);
  }
  return changes;
}

std::vector<ActionChange> PlanLog::end_proposal(const StepAnswer& answer, const Snapshot& snapshot) {
  std::vector<ActionChange> changes;
  PlanStatus* status = find_mutable(answer.ended->plan);
  if (status == nullptr) return changes;
  switch (answer.ended->end) {
    case ProposalEnd::kApproved:
      begin(*status, answer, snapshot, changes);
      return changes;
    case ProposalEnd::kExpired:
      status->phase = PlanPhase::kExpired;
      status->message = "it was not approved in time";
      break;
    case ProposalEnd::kSuperseded:
      status->phase = PlanPhase::kSuperseded;
      status->difference = answer.ended->difference;
      status->message = fmt::format("{}", fmt::join(status->difference, "; "));
      break;
  }
  drop(*status, status->message, changes);
  return changes;
}

void PlanLog::begin(PlanStatus& status, const StepAnswer& answer, const Snapshot& snapshot,
                    std::vector<ActionChange>& changes) {
  auto accepted = answer.plan.actions.begin();
  std::vector<std::size_t> begun;  // indices of actions
  for (std::size_t index = 0; index < status.actions.size() && accepted != answer.plan.actions.end(); ++index) {
    ActionStatus& each = status.actions[index];
    if (each.phase != ActionPhase::kPlanned) continue;
    each.action = *accepted++;
    each.phase = ActionPhase::kRunning;
    const auto* destroy = std::get_if<DestroySlice>(&each.action.what);
    if (destroy != nullptr) each.generation = leaving_generation(snapshot, destroy->slice);
    begun.push_back(index);
    changes.push_back({.plan = status.plan.id, .action = index, .phase = each.phase, .message = {}});
  }
  status.phase = begun.empty() ? PlanPhase::kDone : PlanPhase::kActing;
  status.running_count = begun.size();
  if (!begun.empty()) status.acts_at = snapshot.now;
  const std::uint64_t id = status.plan.id;
  for (const std::size_t index : begun) replace_earlier(slice_of(status.actions[index].action.what), id, changes);
  const AssignmentNumbers assignments = assignment_numbers(answer.plan);
  for (const std::size_t index : begun) {
    const ActionStatus& each = status.actions[index];
    const std::uint64_t number = reported_number(each, assignments);
    running_[{slice_of(each.action.what).gpu, number}].push_back({.plan = id, .action = index});
  }
}

void PlanLog::drop(PlanStatus& status, const std::string& why, std::vector<ActionChange>& changes) {
  for (std::size_t index = 0; index < status.actions.size(); ++index) {
    ActionStatus& each = status.actions[index];
    if (each.phase != ActionPhase::kPlanned) continue;
    each.phase = ActionPhase::kDropped;
    each.message = why;
    changes.push_back({.plan = status.plan.id, .action = index, .phase = each.phase, .message = why});
  }
}

void PlanLog::replace_earlier(const Slice& slice, std::uint64_t by, std::vector<ActionChange>& changes) {
  std::vector<std::uint64_t> numbers;
  for (auto it = running_.lower_bound({slice.gpu, 0}); it != running_.end() && it->first.first == slice.gpu; ++it) {
    const Running& first = it->second.front();
    const PlanStatus* plan = find(first.plan);
    if (plan == nullptr || std::holds_alternative<DestroySlice>(plan->actions[first.action].action.what)) continue;
    if (slice_of(plan->actions[first.action].action.what) == slice) numbers.push_back(it->first.second);
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
  return changes;
}

void PlanLog::end(GpuId gpu, std::uint64_t number, ActionPhase phase, const std::string& message,
                  std::vector<ActionChange>& changes) {
  const auto node = running_.extract({gpu, number});
  if (node.empty()) return;
  for (const Running& running : node.mapped()) {
    PlanStatus* plan = find_mutable(running.plan);
    if (plan == nullptr) continue;  // forgotten
    plan->actions[running.action].phase = phase;
    plan->actions[running.action].message = message;
    changes.push_back({.plan = running.plan, .action = running.action, .phase = phase, .message = message});
    if (--plan->running_count == 0 && plan->phase == PlanPhase::kActing) plan->phase = PlanPhase::kDone;
  }
}

void PlanLog::set_wall_expiry(std::uint64_t id, std::int64_t expires_at_wall_us) {
  if (PlanStatus* plan = find_mutable(id)) plan->expires_at_wall_us = expires_at_wall_us;
}

PlanStatus* PlanLog::find_mutable(std::uint64_t id) {
  const auto id_of = [](const PlanStatus& each) { return each.plan.id; };
  const auto it = std::ranges::lower_bound(plans_, id, {}, id_of);
  return it == plans_.end() || it->plan.id != id ? nullptr : &*it;
}

const PlanStatus* PlanLog::find(std::uint64_t id) const {
  const auto id_of = [](const PlanStatus& each) { return each.plan.id; };
  const auto it = std::ranges::lower_bound(plans_, id, {}, id_of);
  return it == plans_.end() || it->plan.id != id ? nullptr : &*it;
}

const PlanStatus* PlanLog::current() const {
  for (auto it = plans_.rbegin(); it != plans_.rend(); ++it) {
    if (it->phase == PlanPhase::kActing || it->phase == PlanPhase::kAwaitingApproval) return &*it;
  }
  return plans_.empty() ? nullptr : &plans_.back();
}

}  // namespace berth::live
