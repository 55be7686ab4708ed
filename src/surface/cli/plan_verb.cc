#include "surface/cli/plan_verb.h"

#include <chrono>
#include <utility>

#include "planner/solve.h"
#include "scenario/load.h"
#include "study/plan_at.h"
#include "surface/cli/interrupt.h"
#include "surface/cli/plan_answer.h"
#include "surface/cli/progress_bar.h"

namespace berth::cli {
namespace {

/// With a clock beside it.
template <typename Work>
double ms_of(const Work& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

/// The plan of the policy with the reasons of its steps, or a better plan that the reasons came upon.
PlanAnswer reasoned(PlanRecord&& record) {
  PlanAnswer answer;
  answer.record = std::move(record);
  planner::Answer& best = answer.record.answer;
  const double searched = best.objective;
  answer.reasons_ms = ms_of([&] {
    planner::ReasonedAnswer told =
        planner::best_with_reasons(answer.record.problem, best, {.nodes_max = PlannerOptions().nodes_max, .gap = 0});
    best = std::move(told.answer);
    answer.steps = std::move(told.steps);
  });
  if (best.objective > searched) answer.objective_of_search = searched;
  return answer;
}

}  // namespace

Result<std::string> run_plan(const PlanRequest& request, const PlanSurroundings& surroundings) {
  InterruptWatch interrupt;
  const Result<Scenario> scenario = scenario::load_scenario(request.scenario_path, surroundings.files);
  if (!scenario) return pass_on(scenario.error());
  interrupt.defer();
  ProgressBar bar(surroundings.progress, 1, steady_now);
  study::PlanAt options{.second = request.at_second, .seed = request.seed};
  options.progress = [&](double done) {
    bar.show("berth", 0, done);
    return !interrupt.is_interrupted();
  };
  Result<study::PlannedMoment> planned = study::plan_at(*scenario, options);
  if (!planned && planned.error().code == ErrorCode::kInvalidInput) {
    return invalid("--at: " + planned.error().message);
  }
  if (!planned) return pass_on(planned.error());
  if (planned->infeasible) return invalid(request.scenario_path + ": no plan: " + *planned->infeasible);
  PlanAnswer answer = reasoned(std::move(*planned->record));
  if (request.is_explained) {
    answer.shares = planner::explain_shares(answer.record.problem, answer.record.answer.schedule);
  }
  if (request.has_timings) {
    // The same search again: the engine reads no clock.
    const PlanRecord& record = answer.record;
    answer.solve_ms = ms_of([&] { static_cast<void>(planner::solve(record.problem, record.limits, record.known)); });
  } else {
    answer.reasons_ms.reset();
  }
  bar.clear();
  if (interrupt.is_interrupted()) return pass_on(interrupted_error());
  return request.format == OutputFormat::kJson ? plan_json(*scenario, answer)
                                               : plan_table(*scenario, answer, surroundings.has_colour);
}

}  // namespace berth::cli
