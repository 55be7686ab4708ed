/// The charts of the page of `berth optimize` that compare variants.
#pragma once

#include <cstddef>
#include <string>

#include "models/optimize/manifest.h"

namespace berth::report {

/// The maximum number of variants drawn, and of batch sizes for each.
inline constexpr std::size_t kVariantsDrawnMax = 24;
inline constexpr std::size_t kBatchesDrawnMax = 10;

/// The time of each variant / the original's, by batch size and as their mean, with intervals, on a logarithmic axis
/// around 1. Empty: no variant was measured.
[[nodiscard]] std::string time_ratio_figure(const models::Manifest& manifest);
[[nodiscard]] std::string time_ratio_key();

/// The loss of each variant with its interval, against the memory at the largest batch; a line at the allowed loss.
/// Empty: no variant was measured.
[[nodiscard]] std::string loss_memory_figure(const models::Manifest& manifest);
[[nodiscard]] std::string loss_memory_key();

}  // namespace berth::report
