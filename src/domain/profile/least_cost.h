/// The lowest cost of an answer.
#pragma once

#include <optional>

#include "domain/values/scenario.h"
#include "domain/values/service.h"

namespace berth::profile {

/// SM-microseconds of one answer of a service at its best usable point on any slice of the fleet's GPU models; absent
/// if it has none.
[[nodiscard]] std::optional<double> least_sm_us_per_request(const Scenario& scenario, const ServiceSpec& service);

}  // namespace berth::profile
