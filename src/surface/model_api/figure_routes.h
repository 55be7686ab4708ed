/// What the server says about itself: `/berth/v1/series`, `memory`, `usage` and `times`, and `/metrics`.
#pragma once

#include <vector>

#include "serving/service/figure_service.h"
#include "surface/model_api/model_route.h"

namespace berth::model_api {

/// The service is borrowed. Metrics need no key.
[[nodiscard]] std::vector<ModelRoute> figure_routes(const serving::FigureService& service);

}  // namespace berth::model_api
