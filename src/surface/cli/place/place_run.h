/// Runs `berth place`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/place/place_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. The file of --decisions appears complete or not at all.
[[nodiscard]] Result<std::string> run_place(const PlaceRequest& request, const VerbContext& context);

}  // namespace berth::cli
