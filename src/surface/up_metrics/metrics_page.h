/// The reference page of the metrics of `berth up`: docs/reference/metrics.md.
#pragma once

#include <string>

namespace berth::metrics {

/// Markdown, generated from metric_table(). Always the same bytes.
[[nodiscard]] std::string metrics_page();

}  // namespace berth::metrics
