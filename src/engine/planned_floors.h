/// What a plan counts on for the services with a floor, and which constraints stand against floors that cannot be met.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"
#include "engine/conflict.h"
#include "window/frame.h"
#include "window/window.h"

namespace berth {

/// The floors of a plan whose actions are complete: needed by the moment's outlook, planned by the slices that stand
/// after it, each at the point that was asked for (else the default one), at the interference of a full GPU.
[[nodiscard]] std::vector<PlannedFloor> planned_floors(const Scenario& scenario, const Snapshot& snapshot,
                                                       const planner::Moment& moment, const Plan& plan);

/// Whether some constraints of a scenario can all be kept at a moment, asked of a solver with so many nodes. What is
/// still on its way counts as ready: a change under way is no constraint of the scenario. `frame` is that of the whole
/// scenario.
struct MomentQuestion {
  const Scenario& scenario;
  const planner::Frame& frame;
  const planner::Moment& moment;
  std::int64_t nodes_max = 0;
  bool is_first_layout = false;  ///< budgets and frozen windows do not bind it
};
[[nodiscard]] Finding ask_moment(const MomentQuestion& question, std::span<const ConstraintId> kept);

/// Whether all constraints can be kept at a moment, and a smallest conflict where it is proven that they cannot: up to
/// ConflictLimits::calls_max questions.
[[nodiscard]] ConflictSearchResult find_moment_conflict(const MomentQuestion& question);

}  // namespace berth
