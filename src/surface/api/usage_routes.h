/// Who held which slice from when to when: /v1/usage.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> usage_routes();

}  // namespace berth::api
