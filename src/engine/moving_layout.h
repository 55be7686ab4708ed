/// The stage of policies that re-cut GPUs while they run, and the way from what stands to what they want.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"
#include "engine/engine.h"
#include "partition/target.h"

namespace berth {

/// The actions that lead from what stands (or is on its way) to the target: first what goes, then what is cut, then who
/// gets what; each part in order of slices. A slice that stands as wanted (same holding and point) is not touched; one
/// with another holder, role or point is assigned anew and not cut. Each action has the target's reason. Slices that
/// are leaving already are left alone.
[[nodiscard]] std::vector<Action> actions_towards(const Snapshot& snapshot, const partition::Target& target);

/// Asks `decide` in every step in which a change may begin (not in a frozen window; the first layout is always asked
/// for) and turns its target into actions; the plan takes over its objective and bound. `decide` may remember what it
/// has seen. `scenario` must outlive the stage.
[[nodiscard]] Stage moving_layout_stage(const Scenario& scenario, std::string policy,
                                        std::function<partition::Decision(const partition::Sight&)> decide);

}  // namespace berth
