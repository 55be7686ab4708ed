/// The plan that `berth` makes at one second of a scenario.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "domain/scenario.h"
#include "engine/planner_policy.h"

namespace berth::study {

struct PlanAt {
  std::int64_t second = 0;  ///< of the run, >= 0
  std::uint64_t seed = 1;
  std::function<bool(double done)> progress = nullptr;  ///< may be empty; returns false to stop
};

/// The result: a plan, or why none can exist.
struct PlannedMoment {
  std::optional<PlanRecord> record = std::nullopt;
  std::optional<std::string> infeasible = std::nullopt;
};

/// Simulates the scenario until that second, with the layout of the file if it has one, otherwise with `berth`
/// itself, and plans there. Error: the second is at or after the end of the run, or `progress` stopped it.
[[nodiscard]] Result<PlannedMoment> plan_at(const Scenario& scenario, const PlanAt& options);

}  // namespace berth::study
