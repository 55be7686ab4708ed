/// The page of `berth tier predict`: which tier to take and why, as one self-contained HTML page without script.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tier/choose/answer.h"
#include "tier/hardware/catalogue_prices.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the tiers with their figures, cost against probability, predicted against
/// measured throughput, the calibration of the forest, what the features add, and what would change the choice. Names
/// are escaped; absent figures are a dash. `offers`: by tier, or none. The same arguments give the same bytes.
[[nodiscard]] std::string render_tier_report(const tier::TierAnswer& answer, std::span<const tier::PriceSource> offers);

/// The maximum number of tiers drawn, and of tiers in the table of features; the page says so.
inline constexpr std::size_t kTiersDrawnMax = 40;
inline constexpr std::size_t kTiersExplainedMax = 8;

}  // namespace berth::report
