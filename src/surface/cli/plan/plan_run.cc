#include "surface/cli/plan/plan_run.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/scenario/load.h"
#include "engine/loop/plan_json.h"
#include "planner/plan/solve.h"
#include "sim/study/plan_at.h"
#include "surface/cli/plan/plan_table.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/progress_bar.h"
#include "tier/enforce/forest_speeds.h"

namespace berth::cli {
namespace {

/// The duration of `work` in milliseconds of wall-clock time.
template <typename Work>
double ms_of(const Work& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

/// Shows progress while the verb works, and detects a request to stop.
class Watch {
 public:
  explicit Watch(ProgressOutput progress) : bar_(progress, 2, steady_now) {}

  /// From here on, a signal is only recorded, so that the work stops cleanly.
  void defer() { interrupt_.defer(); }
  /// Shows the progress of a part of the work. Returns false if the user asked to stop.
  bool go_on(std::string_view part, int index, double done) {
    bar_.show(part, index, done);
    return !interrupt_.is_interrupted();
  }
  [[nodiscard]] bool is_interrupted() const { return interrupt_.is_interrupted(); }
  void clear() { bar_.clear(); }

 private:
  InterruptWatch interrupt_;
  ProgressBar bar_;
};

Result<study::PlannedMoment> planned_moment(const PlanRequest& request, const Scenario& scenario, Watch& watch) {
  study::PlanAt options{.second = request.at_second, .seed = request.seed};
  options.progress = [&](double done) { return watch.go_on("plan", 0, done); };
  watch.go_on("plan", 0, 0);
  Result<study::PlannedMoment> planned = study::plan_at(scenario, options);
  if (!planned && planned.error().code == ErrorCode::kInvalidInput) {
    return invalid("--at: " + planned.error().message);
  }
  if (!planned) return pass_on(planned.error());
  if (planned->infeasible) return invalid(request.scenario_path + ": no plan: " + *planned->infeasible);
  if (planned->refused) {
    return invalid(fmt::format("{}: the verifier refuses the engine's plan at second {}: {}", request.scenario_path,
                               request.at_second, *planned->refused));
  }
  return planned;
}

/// The engine's plan with the reasons of its steps.
PlanAnswer reasoned(const PlanRequest& request, study::PlannedMoment&& moment, Watch& watch) {
  PlanAnswer answer;
  answer.record = std::move(*moment.record);
  answer.tiers = std::move(moment.tiers);
  answer.seen_tiers = std::move(moment.seen_tiers);
  const PlanRecord& record = answer.record;
  const planner::ReasonOptions options{
      .limits = {.nodes_max = PlannerOptions().nodes_max, .gap = 0},
      .count = request.reasons,
      .progress = [&](double done) { return watch.go_on("reasons", 1, done); },
  };
  answer.reasons_ms = ms_of([&] { answer.reasons = planner::reasons_of(record.problem, record.answer, options); });
  const std::vector<planner::ReasonedStep> pinned = steps_of_pins(record, moment.plan);
  answer.reasons.steps.insert(answer.reasons.steps.end(), pinned.begin(), pinned.end());
  answer.reasons.computed += pinned.size();
  return answer;
}

}  // namespace

Result<std::string> run_plan(const PlanRequest& request, const VerbContext& context) {
  Watch watch(context.progress());
  const auto loaded = scenario::load_scenario_with_warnings(request.scenario_path, *context.files);
  if (!loaded) return pass_on(loaded.error());
  if (const auto model = tier::read_tier_model(loaded->value.tiers); !model) return pass_on(model.error());
  print_warnings(loaded->warnings, context.err);
  const Scenario& scenario = loaded->value;
  watch.defer();
  Result<study::PlannedMoment> planned = planned_moment(request, scenario, watch);
  if (!planned) return pass_on(planned.error());
  PlanAnswer answer = reasoned(request, std::move(*planned), watch);
  if (watch.is_interrupted()) return pass_on(interrupted_error());
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
  watch.clear();
  if (watch.is_interrupted()) return pass_on(interrupted_error());
  return request.format == OutputFormat::kJson ? plan_json(scenario, answer)
                                               : plan_table(scenario, answer, context.has_colour());
}

}  // namespace berth::cli
