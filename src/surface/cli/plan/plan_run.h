/// `berth plan`: the plan that `berth` makes at one second.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/plan/plan_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Reads the scenario, plans, and returns the text for stdout. A scenario whose constraints cannot be kept is an error
/// that says why. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_plan(const PlanRequest& request, const VerbContext& context);

}  // namespace berth::cli
