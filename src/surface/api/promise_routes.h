/// /v1/promises: what the changes of plans promised and achieved.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> promise_routes();

}  // namespace berth::api
