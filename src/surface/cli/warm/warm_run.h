/// Runs `berth warm`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"
#include "surface/cli/warm/warm_options.h"

namespace berth::cli {

/// The text for stdout. The file of --log appears complete or not at all.
[[nodiscard]] Result<std::string> run_warm(const WarmRequest& request, const VerbContext& context);

}  // namespace berth::cli
