/// `berth tier predict`: reads the files, answers, writes.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"
#include "surface/cli/tier/tier_predict_options.h"

namespace berth::cli {

[[nodiscard]] Result<std::string> run_tier_predict(const TierPredictRequest& request, const VerbContext& context);

}  // namespace berth::cli
