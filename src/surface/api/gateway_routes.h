/// The routes of `berth gateway`, which take its own key only: the table of endpoints as a stream, and what it counted.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> gateway_routes();

}  // namespace berth::api
