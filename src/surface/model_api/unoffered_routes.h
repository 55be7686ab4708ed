/// Routes that Triton has and this server does not: 501, so that a client sees that it is not a wrong address.
#pragma once

#include <vector>

#include "surface/model_api/model_route.h"

namespace berth::model_api {

[[nodiscard]] std::vector<ModelRoute> unoffered_routes();

}  // namespace berth::model_api
