/// Tables whose truth is known: how much a workload gains from larger tiers is one random number per group, so one
/// measurement says something of all tiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tier/values/tier_table.h"

namespace berth::tier::testing {

/// Tiers a, b, c, d at 1, 2, 3 and 6 USD per hour. Of every group there are two jobs, with batches 8 and 32.
[[nodiscard]] TierTable synthetic_jobs(std::size_t group_count, std::uint64_t seed, std::string_view prefix = "g");

/// Services on the same tiers: batches 1 to 16 with one or two processes; a slice takes 4 ms per batch and then some
/// microseconds per row, fewer on larger tiers.
[[nodiscard]] TierTable synthetic_services(std::size_t group_count, std::uint64_t seed, std::string_view prefix = "g");

/// The workload with its rows on these tiers only.
[[nodiscard]] TierWorkload known_on(const TierWorkload& workload, std::initializer_list<std::size_t> tiers);

}  // namespace berth::tier::testing
