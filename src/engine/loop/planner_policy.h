/// The policy `berth`: forecasts, plans a window every few seconds, and begins the changes of its first slot.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "engine/loop/outlook.h"
#include "engine/loop/planner_options.h"
#include "engine/loop/stage.h"
#include "planner/window/frame.h"
#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth {

/// A window problem with its answer.
struct PlanRecord {
  Instant made_at;
  Instant acts_at;     ///< slot 0
  Instant expires_at;  ///< when the next plan is made, if nothing happens before
  planner::Frame frame;
  planner::Problem problem;
  planner::Answer answer;
  /// The limits of the search and the schedule that it began with. The first layout is searched for longer:
  /// first_layout.h.
  planner::SearchLimits limits;
  planner::Schedule known;
  double stay_objective = 0;                ///< the objective of changing nothing in the window
  std::optional<UnmetFloors> unmet_floors;  ///< where not all floors are met: Plan::unmet_floors
};

/// The stage. `scenario` must outlive it.
[[nodiscard]] Stage planner_stage(const Scenario& scenario, OutlookSource outlook, const PlannerOptions& options);

}  // namespace berth
