/// Runs `berth price`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/price/price_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The requested offers, by price per GPU.
[[nodiscard]] Result<std::string> run_price_list(const PriceRequest& request, const VerbContext& context);
/// Everything known about one instance type: its offers, their prices and earlier prices.
[[nodiscard]] Result<std::string> run_price_show(const PriceRequest& request, const VerbContext& context);
/// The price as a line of events for a ledger (ledger/events). Error: the offers have several prices, or none.
[[nodiscard]] Result<std::string> run_price_event(const PriceEventRequest& request, const VerbContext& context);
/// Writes the extended history; the text says what changed.
[[nodiscard]] Result<std::string> run_price_merge(const PriceMergeRequest& request, const VerbContext& context);

}  // namespace berth::cli
