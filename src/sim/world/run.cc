#include "sim/world/run.h"

#include <utility>

namespace berth::sim {
namespace {

double done_share(const Loop& loop) {
  return static_cast<double>(loop.now().micros()) / static_cast<double>(loop.world().end().micros());
}

}  // namespace

Result<RunOutcome> run_scenario(const Scenario& scenario, const MakeStages& make_stages, const RunOptions& options) {
  Loop loop(scenario, make_stages, options.loop);
  loop.begin();
  while (!loop.is_over()) {
    loop.advance();
    if (loop.is_over()) break;
    if (options.progress && !options.progress(done_share(loop))) return fail(ErrorCode::kInterrupted, "interrupted");
  }
  RunOutcome outcome{.world = nullptr, .infeasible = loop.infeasible(), .refusals = loop.refusals()};
  if (!outcome.infeasible) outcome.world = loop.finish();
  return outcome;
}

Result<RunOutcome> run_scenario(const Scenario& scenario, std::vector<Stage> stages, const RunOptions& options) {
  return run_scenario(scenario, ready_stages(std::move(stages)), options);
}

}  // namespace berth::sim
