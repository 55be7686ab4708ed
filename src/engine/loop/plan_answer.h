/// A plan with its reasons, ready to be shown: JSON and tables are two views of it.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/scenario.h"
#include "engine/loop/planner_policy.h"
#include "planner/plan/explain.h"
#include "planner/plan/steps.h"

namespace berth {

struct PlanAnswer {
  PlanRecord record;
  /// The steps of the record's schedule, then those of pinned slices that the first layout adds to it.
  planner::Reasons reasons;
  std::vector<planner::ServiceShare> shares;        ///< by service; empty unless requested
  std::vector<TierChoice> tiers = {};               ///< the GPU models chosen, by service
  std::vector<TierRule> seen_tiers = {};            ///< by service, as the planner saw them; empty: none has a rule
  std::optional<double> solve_ms = std::nullopt;    ///< duration of the policy's own search
  std::optional<double> reasons_ms = std::nullopt;  ///< duration of computing the reasons of the steps
};

/// (bound - objective) / |bound|; 0 if they differ by rounding only.
[[nodiscard]] double gap_of(const planner::Answer& answer);
/// The objective of the plan minus that of changing nothing.
[[nodiscard]] double promised_gain_of(const PlanRecord& record);

/// A slice in words: 3g.40gb@4.
[[nodiscard]] std::string slice_text(const Scenario& scenario, const PlanRecord& record, planner::GpuIndex gpu,
                                     planner::SiteIndex site);

/// Whether a step gives a service a slice on a GPU model for which its rows are predicted.
[[nodiscard]] bool is_predicted(const Scenario& scenario, const PlanAnswer& answer, const planner::Step& step);

/// The word for a type of step.
[[nodiscard]] std::string_view word_of(planner::StepType type);

/// The steps that change something, with or without a reason.
[[nodiscard]] std::size_t changing_count(const planner::Reasons& reasons);

/// The actions of the first layout that its schedule does not contain, as steps: pinned slices exist from the first
/// layout on, even if no service gains by them.
[[nodiscard]] std::vector<planner::ReasonedStep> steps_of_pins(const PlanRecord& record, const Plan& plan);

inline constexpr std::size_t kAllSteps = std::numeric_limits<std::size_t>::max();
/// The alternative to a step, in words: its first `steps_max` steps, and how many more there are.
[[nodiscard]] std::string instead_text(const Scenario& scenario, const PlanRecord& record,
                                       const planner::StepReason& reason, std::size_t steps_max = kAllSteps);

}  // namespace berth
