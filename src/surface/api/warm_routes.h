/// /v1/warm: the warm pools of services.
#pragma once

#include <vector>

#include "base/json/writer.h"
#include "domain/values/warm_state.h"
#include "surface/api/objects.h"
#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> warm_routes();

/// Adds the members of a warm pool's state to the open object.
void put_warm(json::Writer& json, const ObjectFormat& format, const WarmStatus& status);

}  // namespace berth::api
