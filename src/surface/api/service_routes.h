/// Reads, sets and removes tenants and services over the API.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

/// PUT: 201 for a new object, 200 for one that is replaced or unchanged; DELETE: 200 with the deleted object. Nothing
/// changes on an error.
[[nodiscard]] std::vector<Route> service_routes();

}  // namespace berth::api
