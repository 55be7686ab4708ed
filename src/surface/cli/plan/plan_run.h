/// `berth plan`: the plan that `berth` makes at one second.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/plan/plan_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Reads the scenario, plans, and returns the text for stdout. Errors: constraints that cannot be met, with the reason;
/// ErrorCode::kInterrupted after SIGINT or SIGTERM.
[[nodiscard]] Result<std::string> run_plan(const PlanRequest& request, const VerbContext& context);

}  // namespace berth::cli
