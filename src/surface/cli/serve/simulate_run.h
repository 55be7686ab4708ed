/// Runs `berth serve simulate`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/serve/simulate_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. The file of --log appears complete or not at all.
[[nodiscard]] Result<std::string> run_simulate(const SimulateRequest& request, const VerbContext& context);

}  // namespace berth::cli
