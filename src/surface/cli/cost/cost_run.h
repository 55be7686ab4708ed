/// From the request of `berth cost` to the text for stdout.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/cost/cost_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

[[nodiscard]] Result<std::string> run_cost(const CostRequest& request, const VerbContext& context);

}  // namespace berth::cli
