/// Plans over the API, their approval, and the pause of planning: docs/how_to/approval.md.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> plan_routes();

}  // namespace berth::api
