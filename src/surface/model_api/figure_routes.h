/// What the server says about itself: `/berth/v1/series`, `memory`, `usage` and `times`, and `/metrics`.
#pragma once

#include <functional>
#include <vector>

#include "domain/values/metric.h"
#include "serving/service/figure_service.h"
#include "surface/model_api/model_route.h"

namespace berth::model_api {

/// The service is borrowed. Metrics need no key. `more_metrics`: further families of `/metrics`; any thread calls it;
/// empty: none.
[[nodiscard]] std::vector<ModelRoute> figure_routes(const serving::FigureService& service,
                                                    std::function<std::vector<MetricFamily>()> more_metrics = {});

}  // namespace berth::model_api
