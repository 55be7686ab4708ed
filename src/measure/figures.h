/// From a finished world to the figures of a policy.
#pragma once

#include <optional>
#include <vector>

#include "domain/scenario.h"
#include "measure/result.h"
#include "sim/world.h"

namespace berth::measure {

/// Fills figures and services of `result` from a finished world.
void measure(const Scenario& scenario, const sim::World& world, PolicyResult& result);

/// The mean over services weighted by their weights, or over requests, as the scenario's objective says; absent without
/// requests.
[[nodiscard]] std::optional<double> objective_value(const Scenario& scenario, const Figures& figures);

/// SM-microseconds that one answer of a service costs at the best usable point that it has on any slice of the fleet's
/// models; absent if it has none.
[[nodiscard]] std::optional<double> least_sm_us_per_request(const Scenario& scenario, const ServiceSpec& service);

}  // namespace berth::measure
