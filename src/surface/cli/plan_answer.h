/// The answer of `berth plan`, ready to be printed: JSON and the table are two views of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/scenario.h"
#include "engine/planner_policy.h"
#include "planner/explain.h"
#include "planner/steps.h"

namespace berth::cli {

struct PlanAnswer {
  PlanRecord record;
  std::vector<planner::Step> steps;
  std::vector<planner::ServiceShare> shares;  ///< by service; empty unless asked for
  std::optional<double> solve_ms = std::nullopt;
};

/// (bound - objective) / |bound|, never below 0: rounding may leave the bound a hair below.
[[nodiscard]] double gap_of(const planner::Answer& answer);

[[nodiscard]] std::string plan_json(const Scenario& scenario, const PlanAnswer& answer);
[[nodiscard]] std::string plan_table(const Scenario& scenario, const PlanAnswer& answer, bool has_colour);

}  // namespace berth::cli
