/// Programs on slices: targets for Prometheus, and logs.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> program_routes();

}  // namespace berth::api
