/// GET /v1/calibration: what was measured of tables and forecasts, next to what was predicted.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> calibration_routes();

}  // namespace berth::api
