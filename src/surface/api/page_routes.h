/// The page of "/", its data (GET /v1/overview), and the state of the process (GET /v1/status, /healthz, /readyz).
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> page_routes();

}  // namespace berth::api
