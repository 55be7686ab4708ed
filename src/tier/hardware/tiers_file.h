/// Tiers as a file: `tiers: [{name, gpu, profile, usd_per_hour, memory_mib, tflops, gb_per_second}]`.
/// docs/reference/tier.md describes it.
#pragma once

#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

inline constexpr std::size_t kTiersMax = 1'000;

/// The tiers of a file, sorted by price; equal prices keep their order. `name` and `usd_per_hour` are required; what
/// else is absent comes from `gpu_figures`, of a slice by its share, if `gpu` is stated. Errors, as
/// FILE:LINE:COLUMN: KEY: unknown keys, GPUs and profiles, numbers not above 0, a name twice, no tiers.
[[nodiscard]] Result<std::vector<Tier>> read_tiers_file(std::string_view text, std::string_view file);

/// The same where prices come from elsewhere (`catalogue_prices.h`): `gpu` is required, `usd_per_hour` is not, and is 0
/// where absent. In the order of the file.
[[nodiscard]] Result<std::vector<Tier>> read_unpriced_tiers(std::string_view text, std::string_view file);

/// Sorts by price; equal prices keep their order.
void sort_by_price(std::vector<Tier>& tiers);

/// Fills absent figures of a tier from the table. Error: a GPU or profile that is not known. Requires: `gpu` is not
/// empty.
[[nodiscard]] Result<void> complete_figures(Tier& tier);

}  // namespace berth::tier
