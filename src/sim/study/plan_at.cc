#include "sim/study/plan_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "engine/loop/constraints.h"
#include "engine/loop/enforcement.h"
#include "engine/loop/stages.h"
#include "engine/loop/verify.h"
#include "engine/rivals/layout.h"
#include "planner/window/check.h"
#include "sim/world/run.h"

namespace berth::study {
namespace {

constexpr double kRounding = 1e-9;  ///< the relative error of an objective: sums in another order may differ by as much

/// The answer, filled in during the run.
struct Asked {
  PlannedMoment answer;
  bool is_planned = false;
  const Scenario* seen = nullptr;  ///< the scenario as the planner sees it, during the run
  std::map<ServiceId, TierChoice> tiers = {};
};

void note_tiers(Asked& asked) {
  for (const auto& [service, choice] : asked.tiers) asked.answer.tiers.push_back(choice);
  const bool has_rules =
      std::ranges::any_of(asked.seen->services, [](const ServiceSpec& service) { return service.tier.has_effect(); });
  if (!has_rules) return;
  for (const ServiceSpec& service : asked.seen->services) asked.answer.seen_tiers.push_back(service.tier);
}

/// Why a plan must not be carried out, or nothing. The engine makes the same checks; here an objection is reported.
std::optional<std::string> refusal_of(const Scenario& scenario, const PlanRecord& record, const Snapshot& snapshot,
                                      const Plan& plan) {
  if (!plan.actions.empty()) {
    if (auto objection = find_objection(scenario, snapshot, plan, record.acts_at)) return objection;
    if (auto breach = find_breach(scenario, snapshot, plan, record.acts_at)) return breach;
  }
  if (auto fault = planner::find_fault(record.problem, record.answer.schedule)) return fault;
  const double objective = planner::evaluate(record.problem, record.answer.schedule).objective;
  if (std::abs(objective - record.answer.objective) <= kRounding * (1 + std::abs(objective))) return std::nullopt;
  return fmt::format("wanted an objective of {}, found {}", objective, record.answer.objective);
}

/// The stages: before the second in question the file's layout, or the policy itself; then the plan.
std::vector<Stage> stages_until(const Scenario& scenario, const PlanAt& options, Asked& asked) {
  const Instant at = Instant::at_second(options.second);
  const auto record = [&asked, at](const PlanRecord& seen) {
    if (asked.is_planned || seen.made_at < at) return;
    asked.answer.record = seen;
    asked.is_planned = true;
  };
  std::vector<Stage> stages;
  PlannerOptions planner{.loads_are_forecasts = true};  // as the policy berth
  planner.record = record;
  if (scenario.layout) {
    stages.push_back(
        first_layout_stage("fixed", [&scenario](const Snapshot&) { return partition::fixed_layout(scenario); }));
    planner.plans_once_at = at;
  } else {
    planner.plans_also_at = at;
  }
  stages.push_back(planner_stage(scenario, forecast_outlook(scenario), planner));
  return stages;
}

}  // namespace

Result<PlannedMoment> plan_at(const Scenario& scenario, const PlanAt& options) {
  if (options.second >= scenario.simulated_seconds()) {
    return invalid(fmt::format("wanted a second before the end of the run at {}, found {}",
                               scenario.simulated_seconds(), options.second));
  }
  Asked asked;
  bool is_stopped = false;
  sim::RunOptions run;
  run.loop.seed = options.seed;
  run.progress = [&](double done) {
    is_stopped = options.progress && !options.progress(done * static_cast<double>(scenario.simulated_seconds()) /
                                                       static_cast<double>(options.second + 1));
    return !asked.is_planned && !is_stopped;
  };
  run.loop.listener.solution = [&](const Snapshot& posed, const Solution& solution) {
    if (!asked.is_planned || asked.answer.plan.id != 0) return;
    asked.answer.refused = refusal_of(*asked.seen, *asked.answer.record, posed, solution.plan);
    asked.answer.plan = solution.plan;
    note_tiers(asked);
  };
  run.loop.listener.answer = [&](const StepAnswer& answer) {
    if (asked.is_planned) return;
    for (const TierChoice& choice : answer.tiers) asked.tiers[choice.service] = choice;
  };
  // Until the second in question the layout of a file stays as it is.
  const auto has_pool = [](const ServiceSpec& service) { return service.ready.warm_pool.has_value(); };
  run.loop.has_warm_pools = !scenario.layout && std::ranges::any_of(scenario.services, has_pool);
  const bool sees_less = run.loop.has_warm_pools || std::ranges::any_of(scenario.services, is_enforced);
  run.loop.is_strict = sees_less;
  asked.seen = &scenario;
  const MakeStages make_stages = [&](const Scenario& seen) {
    asked.seen = &seen;
    return stages_until(seen, options, asked);
  };
  const auto outcome =
      sim::run_scenario(scenario, sees_less ? make_stages : ready_stages(stages_until(scenario, options, asked)), run);
  if (is_stopped) return fail(ErrorCode::kInterrupted, "interrupted");
  if (asked.is_planned) return std::move(asked.answer);
  if (!outcome) return pass_on(outcome.error());
  asked.answer.infeasible = outcome->infeasible.value_or("the engine made no plan at that second");
  return std::move(asked.answer);
}

}  // namespace berth::study
