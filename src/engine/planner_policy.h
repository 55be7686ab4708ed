/// The policy `berth`: forecasts, plans a window every few seconds, and does what must begin now.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "domain/plan.h"
#include "domain/scenario.h"
#include "engine/engine.h"
#include "engine/outlook.h"
#include "planner/frame.h"
#include "planner/limits.h"
#include "planner/problem.h"

namespace berth {

/// A window problem as it was posed and answered.
struct PlanRecord {
  Instant made_at;
  Instant acts_at;     ///< slot 0
  Instant expires_at;  ///< when the next plan is made, if nothing happens before
  planner::Frame frame;
  planner::Problem problem;
  planner::Answer answer;
  /// How the answer was sought, and what the search began with. The first layout is sought longer: first_layout.h.
  planner::SearchLimits limits;
  planner::Schedule known;
  double stay_objective = 0;                ///< of changing nothing in the window
  std::optional<UnmetFloors> unmet_floors;  ///< where not all floors are met: Plan::unmet_floors
};

struct PlannerOptions {
  int period_seconds = 5;     ///< between plans; news of a retraining bring one forward
  double tail_seconds = 100;  ///< how long the last layout of a window counts, as far as the run goes
  /// What each slice that is created or destroyed must gain: as much as a GPU's share of all requests, answered for so
  /// long (Problem::change_price). Forecasts err; what gains less stays as it is.
  double gain_min_seconds = 0.5;
  std::int64_t nodes_max = 3'000;
  double gap = 0.003;  ///< of the objective: a plan so near its bound is good enough
  // Ideas that may be left out (0), to see what each is worth.
  int recuts = 1;    ///< 0: the first layout, planned for the whole run, stands for all of it
  int points = 1;    ///< 0: slices run at their default operating points
  int variants = 1;  ///< 0: models in their first form only
  /// Watches, and plans once: in the first step from this instant on in which something stands or nothing is to come.
  std::optional<Instant> plans_once_at = std::nullopt;
  /// Plans at this instant whatever the period says, and though a window be frozen.
  std::optional<Instant> plans_also_at = std::nullopt;
  std::function<void(const PlanRecord&)> record = nullptr;  ///< sees each plan; may be empty
};

/// The stage. `scenario` must outlive it.
[[nodiscard]] Stage planner_stage(const Scenario& scenario, OutlookSource outlook, const PlannerOptions& options);

}  // namespace berth
