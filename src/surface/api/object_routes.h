/// Nodes, GPUs and slices over the API: read them, and cordon, open and drain GPUs.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> object_routes();

}  // namespace berth::api
