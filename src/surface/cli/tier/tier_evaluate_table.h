/// An evaluation of tiers as text for people.
#pragma once

#include <string>

#include "tier/evaluate/evaluate.h"

namespace berth::cli {

[[nodiscard]] std::string tier_evaluate_table(const tier::TierTable& table, const tier::Evaluation& evaluation,
                                              int measurements_max, bool has_colour);

}  // namespace berth::cli
