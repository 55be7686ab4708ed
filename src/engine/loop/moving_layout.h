/// The stage of policies that repartition GPUs while they run, and the actions from the existing layout to their
/// target.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/loop/stage.h"
#include "engine/rivals/target.h"

namespace berth {

/// The actions that lead from the existing slices (and those being created) to the target: first slices to destroy,
/// then slices to create, then assignments; each part in order of slices. A slice that exists as wanted (same holding
/// and point) is not changed; one with another holder, role or point is reassigned, not created again. Each action has
/// the target's reason. Slices that are already leaving are ignored.
[[nodiscard]] std::vector<Action> actions_towards(const Snapshot& snapshot, const partition::Target& target);

/// A policy that repartitions while it runs.
struct MovingPolicy {
  /// May keep state between calls.
  std::function<partition::Decision(const partition::Sight&)> decide;
  Memory memory = {};
};

/// Calls `decide` in every step in which a change may begin (not in a frozen window; for the first layout always) and
/// turns its target into actions; the plan gets its objective and bound. `scenario` must outlive the stage.
[[nodiscard]] Stage moving_layout_stage(const Scenario& scenario, std::string name, MovingPolicy policy);

}  // namespace berth
