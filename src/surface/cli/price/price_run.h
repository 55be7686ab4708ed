/// Runs `berth price`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/price/price_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The offers that are asked for, by the price of a GPU.
[[nodiscard]] Result<std::string> run_price_list(const PriceRequest& request, const VerbContext& context);
/// All that is known of one type: where it can be bought, how, for what, and the prices of before.
[[nodiscard]] Result<std::string> run_price_show(const PriceRequest& request, const VerbContext& context);
/// Writes the continued history, and says what changed.
[[nodiscard]] Result<std::string> run_price_merge(const PriceMergeRequest& request, const VerbContext& context);

}  // namespace berth::cli
