#include "surface/cli/plan_verb.h"

#include <chrono>
#include <utility>

#include "planner/solve.h"
#include "scenario/load.h"
#include "sim/plan_at.h"
#include "surface/cli/interrupt.h"
#include "surface/cli/plan_answer.h"
#include "surface/cli/progress_bar.h"

namespace berth::cli {
namespace {

/// The same search again, with a clock beside it: the engine reads none.
double timed_solve_ms(const PlanRecord& record) {
  const auto began = std::chrono::steady_clock::now();
  static_cast<void>(planner::solve(record.problem, record.limits, record.known));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

Result<std::string> run_plan(const PlanRequest& request, const PlanSurroundings& surroundings) {
  InterruptWatch interrupt;
  const Result<Scenario> scenario = scenario::load_scenario(request.scenario_path, surroundings.files);
  if (!scenario) return pass_on(scenario.error());
  interrupt.defer();
  ProgressBar bar(surroundings.progress, 1, steady_now);
  sim::PlanAt options{.second = request.at_second, .seed = request.seed};
  options.progress = [&](double done) {
    bar.show("berth", 0, done);
    return !interrupt.is_interrupted();
  };
  Result<sim::PlannedMoment> planned = sim::plan_at(*scenario, options);
  if (!planned && planned.error().code == ErrorCode::kInvalidInput) {
    return invalid("--at: " + planned.error().message);
  }
  if (!planned) return pass_on(planned.error());
  if (planned->infeasible) return invalid(request.scenario_path + ": no plan: " + *planned->infeasible);
  PlanAnswer answer;
  answer.record = std::move(*planned->record);
  answer.steps = planner::reasons_of(answer.record.problem, answer.record.answer,
                                     {.nodes_max = PlannerOptions().nodes_max, .gap = 0});
  if (request.is_explained) {
    answer.shares = planner::explain_shares(answer.record.problem, answer.record.answer.schedule);
  }
  if (request.has_timings) answer.solve_ms = timed_solve_ms(answer.record);
  bar.clear();
  if (interrupt.is_interrupted()) return pass_on(interrupted_error());
  return request.format == OutputFormat::kJson ? plan_json(*scenario, answer)
                                               : plan_table(*scenario, answer, surroundings.has_colour);
}

}  // namespace berth::cli
