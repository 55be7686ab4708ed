/// The points of a run, wherever its batches run.
#pragma once

#include <functional>

#include "apps/profile/input_rows.h"
#include "base/core/result.h"
#include "domain/values/profile_run.h"
#include "models/profiling/profile_request.h"
#include "models/profiling/turn.h"
#include "surface/cli/profile/profile_outside.h"

namespace berth::profiler {

/// The run with a point for each size that was asked for and that the model takes. Errors: those of `run_turn`;
/// kInterrupted.
[[nodiscard]] Result<ProfileRun> with_points(
    ProfileRun run, const models::ProfileRequest& request, const InputRows& inputs, const cli::ProfileHooks& hooks,
    std::function<Result<models::TurnTimes>(const models::TurnOrder&)> run_turn);

}  // namespace berth::profiler
