/// The answer of `berth tier predict` with the names that the outputs need.
#pragma once

#include <string>
#include <vector>

#include "tier/choose/answer.h"
#include "tier/hardware/catalogue_prices.h"

namespace berth::cli {

struct TierPredictView {
  tier::TierAnswer answer;
  std::vector<tier::PriceSource> offers = {};  ///< by tier; empty: the prices are those of the file
};

}  // namespace berth::cli
