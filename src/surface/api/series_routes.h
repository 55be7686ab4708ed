/// What services and the fleet brought second by second: the past of the figures of the last minute.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> series_routes();

}  // namespace berth::api
