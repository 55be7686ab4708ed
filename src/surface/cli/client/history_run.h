/// `berth plan history`: the latest plans, and what their changes promised and achieved.
#pragma once

#include "surface/cli/client/act_run.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// json, yaml and name: the plans, as in `get`.
[[nodiscard]] VerbOutcome run_plan_history(const PlanShowWords& words, const VerbContext& context);

}  // namespace berth::cli
