#include "study/plan_at.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/stages.h"
#include "partition/layout.h"
#include "sim/run.h"

namespace berth::study {
namespace {

/// Before the second in question: the file's layout, or the policy itself.
std::vector<Stage> stages_until(const Scenario& scenario, const PlanAt& options, PlannedMoment& answer,
                                bool& is_planned) {
  const Instant at = Instant::at_second(options.second);
  const auto record = [&answer, &is_planned, at](const PlanRecord& seen) {
    if (is_planned || seen.made_at < at) return;
    answer.record = seen;
    is_planned = true;
  };
  std::vector<Stage> stages;
  PlannerOptions planner;
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
  PlannedMoment answer;
  bool is_planned = false;
  bool is_stopped = false;
  sim::RunOptions run;
  run.seed = options.seed;
  run.progress = [&](double done) {
    is_stopped = options.progress && !options.progress(done * static_cast<double>(scenario.simulated_seconds()) /
                                                       static_cast<double>(options.second + 1));
    return !is_planned && !is_stopped;
  };
  const auto outcome = sim::run_scenario(scenario, stages_until(scenario, options, answer, is_planned), run);
  if (is_stopped) return fail(ErrorCode::kInterrupted, "interrupted");
  if (is_planned) return answer;
  if (!outcome) return pass_on(outcome.error());
  answer.infeasible = outcome->infeasible.value_or("the engine made no plan at that second");
  return answer;
}

}  // namespace berth::study
