/// GET /v1/events: the session's events as server-sent events, or, with a query, as a list.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> event_routes();

}  // namespace berth::api
