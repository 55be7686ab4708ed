/// Computes the figures of a policy from a finished world.
#pragma once

#include <optional>
#include <vector>

#include "domain/values/scenario.h"
#include "sim/measure/result.h"
#include "sim/world/world.h"

namespace berth::measure {

/// Fills `figures` and `services` of `result`. Requires: the world is finished.
void measure(const Scenario& scenario, const sim::World& world, PolicyResult& result);

/// The goodput that the scenario's objective asks for: the mean over services by weight, or over all requests; absent
/// without requests.
[[nodiscard]] std::optional<double> objective_value(const Scenario& scenario, const Figures& figures);

}  // namespace berth::measure
