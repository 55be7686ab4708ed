/// Runs `berth spot`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"
#include "surface/cli/spot/spot_options.h"

namespace berth::cli {

/// The text for stdout. The files of --runs and --report appear complete or not at all.
[[nodiscard]] Result<std::string> run_spot(const SpotRequest& request, const VerbContext& context);

}  // namespace berth::cli
