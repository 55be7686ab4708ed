/// The answer of `berth plan`, ready to be printed: JSON and the table are two views of it.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/scenario.h"
#include "engine/planner_policy.h"
#include "planner/explain.h"
#include "planner/steps.h"

namespace berth::cli {

struct PlanAnswer {
  PlanRecord record;
  /// The steps of the record's schedule, then those of pinned slices that the first layout adds to it.
  planner::Reasons reasons;
  std::vector<planner::ServiceShare> shares;        ///< by service; empty unless asked for
  std::optional<double> solve_ms = std::nullopt;    ///< of the policy's own search
  std::optional<double> reasons_ms = std::nullopt;  ///< of the reasons of the steps
};

/// (bound - objective) / |bound|; 0 where they differ by rounding only.
[[nodiscard]] double gap_of(const planner::Answer& answer);
/// What the plan promises over changing nothing.
[[nodiscard]] double promised_gain_of(const PlanRecord& record);

/// A slice as people write it: 3g.40gb@4.
[[nodiscard]] std::string slice_text(const Scenario& scenario, const PlanRecord& record, planner::GpuIndex gpu,
                                     planner::SiteIndex site);

/// The word for a type of step.
[[nodiscard]] std::string_view word_of(planner::StepType type);

/// The steps that change something, with or without a reason.
[[nodiscard]] std::size_t changing_count(const planner::Reasons& reasons);

/// The actions of the first layout that its schedule does not hold, as steps: pinned slices stand from the first layout
/// on, also where no service gains by them.
[[nodiscard]] std::vector<planner::ReasonedStep> steps_of_pins(const PlanRecord& record, const Plan& plan);

inline constexpr std::size_t kAllSteps = std::numeric_limits<std::size_t>::max();
/// What would be done instead of a step, in words: the first `steps_max` steps, and how many more there are.
[[nodiscard]] std::string instead_text(const Scenario& scenario, const PlanRecord& record,
                                       const planner::StepReason& reason, std::size_t steps_max = kAllSteps);

[[nodiscard]] std::string plan_json(const Scenario& scenario, const PlanAnswer& answer);
[[nodiscard]] std::string plan_table(const Scenario& scenario, const PlanAnswer& answer, bool has_colour);

}  // namespace berth::cli
