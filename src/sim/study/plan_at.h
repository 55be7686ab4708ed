/// The plan that `berth` makes at one second of a scenario.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "engine/loop/planner_policy.h"

namespace berth::study {

struct PlanAt {
  std::int64_t second = 0;  ///< of the run, >= 0
  std::uint64_t seed = 1;
  std::function<bool(double done)> progress = nullptr;  ///< may be empty; returns false to stop
};

/// The result: a plan, the reason why none can exist, or a verifier's objection to the plan.
struct PlannedMoment {
  std::optional<PlanRecord> record = std::nullopt;
  Plan plan = {};  ///< the engine's plan: the actions that begin at once
  std::optional<std::string> infeasible = std::nullopt;
  std::optional<std::string> refused = std::nullopt;  ///< a defect of the planner: no input should lead to it
  std::vector<TierChoice> tiers = {};                 ///< the choices in force, by service
  std::vector<TierRule> seen_tiers = {};              ///< by service, as the planner saw them; empty: none has a rule
};

/// Simulates the scenario until that second, with the file's layout if it has one, else with `berth` itself, and plans
/// there. The plan has passed the engine's verifiers (engine/loop/verify.h, engine/loop/constraints.h), and its
/// schedule the planner's (planner/window/check.h). Error: the second is not before the end of the run, or `progress`
/// stopped it.
[[nodiscard]] Result<PlannedMoment> plan_at(const Scenario& scenario, const PlanAt& options);

}  // namespace berth::study
