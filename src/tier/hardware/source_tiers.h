/// The tiers of the public measurements that `berth tier evaluate` reads, with their prices.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tier/values/tier_table.h"

namespace berth::tier {

/// Of "gavel", "sia", "miso" or "parvagpu", sorted by price, with the figures of their hardware; nothing for other
/// names. Prices and their origin: docs/reference/tier.md; those of rtx and quad are assumed.
[[nodiscard]] std::optional<std::vector<Tier>> source_tiers(std::string_view source);

}  // namespace berth::tier
