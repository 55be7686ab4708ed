/// Runs `berth advise`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/advise/advise_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout.
[[nodiscard]] Result<std::string> run_advise(const AdviseRequest& request, const VerbContext& context);

}  // namespace berth::cli
