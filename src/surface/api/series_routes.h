/// The figures of services and of the fleet, second by second: the history of those of the last minute.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> series_routes();

}  // namespace berth::api
