/// The metrics of a server, for a scrape and for a collector.
#pragma once

#include <vector>

#include "domain/values/metric.h"
#include "edges/otlp/telemetry.h"
#include "serving/service/figure_service.h"

namespace berth::serve {

/// What became of the spans and data points of this process; no family if nothing is sent. Any thread.
[[nodiscard]] std::vector<MetricFamily> telemetry_families(const edges::Telemetry* telemetry);

/// All that `/metrics` shows at this moment. Any thread.
[[nodiscard]] std::vector<MetricFamily> server_families(const serving::FigureService& service,
                                                        const edges::Telemetry* telemetry);

}  // namespace berth::serve
