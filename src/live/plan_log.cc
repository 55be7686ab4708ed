#include "live/plan_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/overloaded.h"

namespace berth::live {
namespace {

/// The generation of the slice that is leaving at that place.
std::uint64_t leaving_generation(const Snapshot& snapshot, const Slice& slice) {
  std::uint64_t generation = 0;
  for (const StandingSlice& standing : snapshot.slices) {
    if (standing.is_leaving && standing.holding.slice == slice) generation = std::max(generation, standing.generation);
  }
  return generation;
}

/// The number that the world reports when an action is done: of a creation that is followed by an assignment that of
/// the latter, of a destruction the generation of the slice that goes.
std::uint64_t reported_number(const ActionStatus& status, const std::vector<Action>& accepted) {
  if (std::holds_alternative<DestroySlice>(status.action.what)) return status.generation;
  std::uint64_t number = status.action.number;
  if (!std::holds_alternative<CreateSlice>(status.action.what)) return number;
  for (const Action& other : accepted) {
    const bool is_same = slice_of(other.what) == slice_of(status.action.what);
    if (is_same && std::holds_alternative<AssignSlice>(other.what)) number = std::max(number, other.number);
  }
  return number;
}

const DroppedPart* dropped_part(const StepAnswer& answer, GpuId gpu) {
  const auto it = std::ranges::find(answer.dropped, gpu, &DroppedPart::gpu);
  return it == answer.dropped.end() ? nullptr : &*it;
}

}  // namespace

void PlanLog::add(const Plan& arrived, const StepAnswer& answer, const Snapshot& snapshot) {
  PlanStatus status{
      .plan = arrived, .acted_at = snapshot.now, .phase = PlanPhase::kActing, .message = {}, .actions = {}};
  auto accepted = answer.plan.actions.begin();
  std::vector<std::size_t> begun;  // indices of actions
  for (const Action& action : arrived.actions) {
    const GpuId gpu = slice_of(action.what).gpu;
    ActionStatus each{.action = action, .phase = ActionPhase::kRunning, .message = {}};
    if (const DroppedPart* part = dropped_part(answer, gpu); part != nullptr || answer.refused) {
      each.phase = ActionPhase::kDropped;
      each.message = part != nullptr ? part->why : *answer.refused;
    } else if (accepted != answer.plan.actions.end()) {
      each.action = *accepted++;
      const auto* destroy = std::get_if<DestroySlice>(&action.what);
      if (destroy != nullptr) each.generation = leaving_generation(snapshot, destroy->slice);
      begun.push_back(status.actions.size());
    }
    status.actions.push_back(std::move(each));
  }
  if (answer.refused) {
    status.phase = PlanPhase::kRefused;
    status.message = *answer.refused;
  } else if (begun.empty()) {
    status.phase = PlanPhase::kDone;
  }
  for (const std::size_t index : begun) replace_earlier(slice_of(status.actions[index].action.what), arrived.id);
  for (const std::size_t index : begun) {
    const ActionStatus& each = status.actions[index];
    const std::uint64_t number = reported_number(each, answer.plan.actions);
    running_[{slice_of(each.action.what).gpu, number}].push_back({.plan = arrived.id, .action = index});
  }
  plans_.push_back(std::move(status));
  if (plans_.size() > kCapacity) plans_.pop_front();
}

void PlanLog::replace_earlier(const Slice& slice, std::uint64_t by) {
  std::vector<std::uint64_t> numbers;
  for (auto it = running_.lower_bound({slice.gpu, 0}); it != running_.end() && it->first.first == slice.gpu; ++it) {
    const Running& first = it->second.front();
    const PlanStatus* plan = find(first.plan);
    if (plan == nullptr || std::holds_alternative<DestroySlice>(plan->actions[first.action].action.what)) continue;
    if (slice_of(plan->actions[first.action].action.what) == slice) numbers.push_back(it->first.second);
  }
  for (const std::uint64_t number : numbers) {
    end(slice.gpu, number, ActionPhase::kDropped, fmt::format("plan {} decided otherwise before it was done", by));
  }
}

void PlanLog::apply(const Event& event) {
  std::visit(Overloaded{
                 [&](const SliceReady& ready) { end(ready.slice.gpu, ready.assignment, ActionPhase::kDone, ""); },
                 [&](const SliceGone& gone) { end(gone.slice.gpu, gone.generation, ActionPhase::kDone, ""); },
                 [&](const GpuLost& lost) {
                   while (true) {
                     const auto it = running_.lower_bound({lost.gpu, 0});
                     if (it == running_.end() || it->first.first != lost.gpu) return;
                     end(lost.gpu, it->first.second, ActionPhase::kFailed, "the GPU was lost");
                   }
                 },
                 [](const auto&) {},
             },
             event.what);
}

void PlanLog::end(GpuId gpu, std::uint64_t number, ActionPhase phase, const std::string& message) {
  const auto node = running_.extract({gpu, number});
  if (node.empty()) return;
  for (const Running& running : node.mapped()) {
    const auto plan = std::ranges::find(plans_, running.plan, [](const PlanStatus& each) { return each.plan.id; });
    if (plan == plans_.end()) continue;  // forgotten
    plan->actions[running.action].phase = phase;
    plan->actions[running.action].message = message;
    const bool has_more = std::ranges::any_of(
        plan->actions, [](const ActionStatus& each) { return each.phase == ActionPhase::kRunning; });
    if (!has_more && plan->phase == PlanPhase::kActing) plan->phase = PlanPhase::kDone;
  }
}

const PlanStatus* PlanLog::find(std::uint64_t id) const {
  const auto it = std::ranges::find(plans_, id, [](const PlanStatus& each) { return each.plan.id; });
  return it == plans_.end() ? nullptr : &*it;
}

}  // namespace berth::live
