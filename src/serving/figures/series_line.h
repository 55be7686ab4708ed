/// Seconds of models as lines of a file.
#pragma once

#include <span>
#include <string>

#include "serving/figures/figure_book.h"

namespace berth::serving {

/// One JSON object per second and model, each with a newline: `second` (UNIX), `model`, `version` (null: a backend's
/// model), the counts, `queue_max`, and `latency_buckets`: pairs of the middle of a bucket in microseconds, rounded
/// down, and how many answers it has.
[[nodiscard]] std::string series_lines(std::span<const ModelSecond> seconds);

}  // namespace berth::serving
