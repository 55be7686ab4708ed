/// Tenants and services over the API: read, set and remove them.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

/// PUT: 201 for a new object, 200 for one that is replaced, or left as it is; DELETE: 200 with the object as it was.
/// Nothing changes on an error.
[[nodiscard]] std::vector<Route> service_routes();

}  // namespace berth::api
