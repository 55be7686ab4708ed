/// Counters of a model server as families of metrics.
#pragma once

#include <vector>

#include "domain/values/metric.h"
#include "serving/service/figure_service.h"

namespace berth::serving {

/// The metrics of Triton that exist here, under its names, and those of Berth, which keep to the rules of Prometheus
/// for names. What is unknown has no sample.
[[nodiscard]] std::vector<MetricFamily> metric_families(const CounterFigures& figures);

}  // namespace berth::serving
