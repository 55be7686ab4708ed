/// The route of the metrics, for Prometheus.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> metric_routes();

}  // namespace berth::api
