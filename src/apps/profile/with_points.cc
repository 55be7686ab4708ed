#include "apps/profile/with_points.h"

#include <utility>

#include "models/profiling/measure_points.h"

namespace berth::profiler {

Result<ProfileRun> with_points(ProfileRun run, const models::ProfileRequest& request, const InputRows& inputs,
                               const cli::ProfileHooks& hooks,
                               std::function<Result<models::TurnTimes>(const models::TurnOrder&)> run_turn) {
  auto points = models::measure_points(
      {.batches = inputs.batches, .processes = request.processes, .seconds_min = request.seconds, .seed = request.seed},
      {.run_turn = std::move(run_turn), .report = hooks.report, .should_stop = hooks.should_stop});
  if (!points) return pass_on(points.error());
  run.points = *std::move(points);
  return run;
}

}  // namespace berth::profiler
