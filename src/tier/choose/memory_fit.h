/// Whether a workload fits into the memory of a tier.
#pragma once

#include <optional>
#include <string>

#include "base/core/decimal.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Bytes that a workload needs at least: its weights, and all activations of one row (services: requests can be served
/// one by one) or of a whole batch (jobs: a backward pass needs all of them). What is not known counts as 0; absent:
/// nothing is known.
[[nodiscard]] std::optional<Decimal> memory_needed(TierKind kind, const TierWorkload& workload);

/// Why it does not fit, in words; absent: it fits, or one of the two is not known, or it was measured there.
[[nodiscard]] std::optional<std::string> memory_shortage(TierKind kind, const TierWorkload& workload, const Tier& tier,
                                                         bool is_measured);

}  // namespace berth::tier
