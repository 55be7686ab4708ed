/// /v1/sim/faults: injects faults into the simulated world.
#pragma once

#include <vector>

#include "base/yaml/document.h"
#include "domain/values/scenario.h"
#include "sim/world/fault_book.h"
#include "surface/api/router.h"

namespace berth::api {

/// The order in a body. Error: 422 with the field.
[[nodiscard]] ApiResult<sim::FaultOrder> read_fault(const yaml::Node& body, const Scenario& scenario);

/// POST: 201 with the fault's id; 409 if foreign slices do not fit, or too many faults are pending. GET: the pending
/// faults, oldest first.
[[nodiscard]] std::vector<Route> fault_routes();

}  // namespace berth::api
