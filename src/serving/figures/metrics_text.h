/// Counters of a model server in the text format of Prometheus (version 0.0.4).
#pragma once

#include <string>

#include "serving/service/figure_service.h"

namespace berth::serving {

/// The metrics of Triton that exist here, under its names, and those of Berth, which keep to the rules of Prometheus
/// for names. A family without samples is left out.
[[nodiscard]] std::string metrics_text(const CounterFigures& figures);

}  // namespace berth::serving
