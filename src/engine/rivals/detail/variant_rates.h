/// The rates of the variants of services on the kinds of slices of a fleet.
#pragma once

#include <optional>
#include <vector>

#include "domain/values/plan.h"
#include "engine/rivals/detail/fleet_search.h"
#include "engine/rivals/detail/fleet_view.h"

namespace berth::partition::detail {

/// Rates by variant (0: the models themselves), as many as the service with the most has; a variant that a service does
/// not have, or a kind on which it has no usable point, serves nothing. All are multiplied by `capacity_factor`.
[[nodiscard]] std::vector<JobRates> rates_by_variant(const FleetView& fleet, double capacity_factor);

/// The default point of a variant on a slice, by the rule of profile::choose_point on the variant's table; absent for
/// variant 0, which is the default anyway, and if there is none.
[[nodiscard]] std::optional<PointChoice> point_of_variant(const Scenario& scenario, const Slice& slice,
                                                          ServiceId service, int variant);

}  // namespace berth::partition::detail
