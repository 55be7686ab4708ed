/// /v1/sim/faults: faults of the simulated world, on demand.
#pragma once

#include <vector>

#include "base/yaml/document.h"
#include "domain/values/scenario.h"
#include "sim/world/fault_book.h"
#include "surface/api/router.h"

namespace berth::api {

/// The order in a body. Error: 422 with the field.
[[nodiscard]] ApiResult<sim::FaultOrder> read_fault(const yaml::Node& body, const Scenario& scenario);

/// POST: 201 with the fault's id; 409 where slices of others find no room, or too many faults wait. GET: what waits,
/// oldest first.
[[nodiscard]] std::vector<Route> fault_routes();

}  // namespace berth::api
