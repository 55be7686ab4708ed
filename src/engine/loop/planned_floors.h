/// The capacity that a plan counts on for each service with a floor, and the constraints that conflict with a floor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/loop/conflict.h"
#include "planner/window/frame.h"
#include "planner/window/window.h"

namespace berth {

/// The floors of a plan whose actions are complete, in requests per second: `needed` follows from the outlook of
/// `moment`, `planned` is the rate of the slices after the plan, each at its chosen point (else the default one) and at
/// the interference of a full GPU.
[[nodiscard]] std::vector<PlannedFloor> planned_floors(const Scenario& scenario, const Snapshot& snapshot,
                                                       const planner::Moment& moment, const Plan& plan);

/// A question to a solver with a limited number of nodes: can some constraints of a scenario all be kept at a moment?
/// Slices that are not ready yet count as ready: a change under way is not a constraint of the scenario. `frame` covers
/// the whole scenario.
struct MomentQuestion {
  const Scenario& scenario;
  const planner::Frame& frame;
  const planner::Moment& moment;
  std::int64_t nodes_max = 0;
  bool is_first_layout = false;  ///< budgets and frozen windows do not bind it
};
[[nodiscard]] Finding ask_moment(const MomentQuestion& question, std::span<const ConstraintId> kept);

/// Whether all constraints can be kept at a moment, and a conflict where it is proven that they cannot. A smallest one
/// on up to 20 GPUs; the more GPUs there are, the fewer questions are asked, so a larger fleet's conflict may have more
/// constraints than necessary, and says so.
[[nodiscard]] ConflictSearchResult find_moment_conflict(const MomentQuestion& question);

}  // namespace berth
