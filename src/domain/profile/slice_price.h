/// What a slice costs while it is kept: its placement units at the price of its GPU.
#pragma once

#include <optional>

#include "base/core/decimal.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth::profile {

/// The share of a GPU's placement units that a slice of the profile covers: 1 for `full`.
[[nodiscard]] Decimal unit_share(const GpuModel& model, ProfileId profile);

/// USD per hour of a slice on a fleet entry, exactly; nothing if the entry has no price.
[[nodiscard]] std::optional<Decimal> slice_usd_per_hour(const FleetEntry& entry, ProfileId profile);

/// The price of the cheapest slice of the fleet on which the service, or a variant of it, has an operating point;
/// nothing if there is none, or it has no price. O(profiles of the fleet x rows).
[[nodiscard]] std::optional<Decimal> cheapest_slice_usd_per_hour(const Scenario& scenario, const ServiceSpec& service);

/// The service with the rows of those cheapest slices alone, in all variants, so that no plan gives it another one; as
/// it is if there are none. Where the fleet has no prices, the smallest share of a GPU is the cheapest.
[[nodiscard]] ServiceSpec on_cheapest_slices(const Scenario& scenario, ServiceSpec service);

}  // namespace berth::profile
