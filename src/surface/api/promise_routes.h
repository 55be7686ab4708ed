/// What the changes of plans promised and what came of it: /v1/promises.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> promise_routes();

}  // namespace berth::api
