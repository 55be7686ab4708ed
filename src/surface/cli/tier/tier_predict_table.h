/// The answer of `berth tier predict` for people.
#pragma once

#include <string>

#include "surface/cli/tier/tier_predict_view.h"

namespace berth::cli {

/// The tiers, what was predicted from what, what would change the choice; the last line says what to take.
[[nodiscard]] std::string tier_predict_table(const TierPredictView& view, bool has_colour);

}  // namespace berth::cli
