/// Runs `berth tier evaluate`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"
#include "surface/cli/tier/tier_evaluate_options.h"

namespace berth::cli {

/// The text for stdout. The file of --log appears complete or not at all.
[[nodiscard]] Result<std::string> run_tier_evaluate(const TierEvaluateRequest& request, const VerbContext& context);

}  // namespace berth::cli
