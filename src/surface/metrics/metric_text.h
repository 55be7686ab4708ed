/// Metrics in the text format of Prometheus, version 0.0.4, written by prometheus-cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/values/metric.h"

namespace berth::metrics {

/// The media type of the format: Prometheus 3 refuses a scrape without it.
inline constexpr std::string_view kMetricTextType = "text/plain; version=0.0.4; charset=utf-8";

/// The families in their order; those without samples are left out. O(samples).
[[nodiscard]] std::string metric_text(const std::vector<MetricFamily>& families);

}  // namespace berth::metrics
