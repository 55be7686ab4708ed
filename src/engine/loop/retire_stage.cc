#include "engine/loop/retire_stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "domain/values/frozen.h"

namespace berth {
namespace {

/// What to do with a slice held by a removed service.
Action clearing_of(const Snapshot& snapshot, const StandingSlice& standing) {
  const Reason reason{.text = "its service was removed", .numbers = {}};
  Holding rest = standing.holding;
  std::erase_if(rest.services, [&](ServiceId service) { return snapshot.services[service.index].is_absent; });
  if (rest.services.empty()) return {.what = DestroySlice{standing.holding.slice}, .reason = reason};
  return {.what = AssignSlice{.holding = std::move(rest), .point = standing.point}, .reason = reason};
}

StageAnswer clear(const Scenario& scenario, const Snapshot& snapshot, Plan& plan) {
  if (is_frozen(scenario, snapshot.takes_effect_at(scenario.planning))) return Settled{};
  for (const StandingSlice& standing : snapshot.staying()) {
    if (!snapshot.is_orphan(standing)) continue;
    const Slice& slice = standing.holding.slice;
    const bool is_done =
        std::ranges::any_of(plan.actions, [&](const Action& action) { return slice_of(action.what) == slice; });
    if (is_done) continue;
    plan.is_ordered = true;
    plan.actions.push_back(clearing_of(snapshot, standing));
  }
  return Settled{};
}

}  // namespace

Stage retire_stage(const Scenario& scenario) {
  return {.name = "retire",
          .observe = {},
          .ask = [&scenario](const Snapshot& snapshot, Plan& plan) { return clear(scenario, snapshot, plan); },
          .learn = {}};
}

}  // namespace berth
