/// The answer of `berth tier predict` for programs (docs/reference/tier.md).
#pragma once

#include <string>

#include "surface/cli/tier/tier_predict_view.h"

namespace berth::cli {

[[nodiscard]] std::string tier_predict_json(const TierPredictView& view);

}  // namespace berth::cli
