/// What `berth optimize` says in words: its table and its page use the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/optimize/manifest.h"

namespace berth::figures {

/// "1.4 MiB", "912 B".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
/// "84.2 us", "1.21 ms".
[[nodiscard]] std::string duration_text(double micros);
/// Such as "0.22 (-0.10 to 0.54) points", or "0.0042 (0.0040 to 0.0045)" for an error.
[[nodiscard]] std::string loss_interval_text(const models::IntervalFigure& loss, models::Metric metric);
/// Such as "0.68 x (0.66 to 0.70)".
[[nodiscard]] std::string ratio_interval_text(const models::IntervalFigure& ratio);

/// "Use NAME: 32 % less time, 5 % less memory, 70 % smaller file; it loses ...", with `use` as the name; or to keep the
/// original.
[[nodiscard]] std::string optimize_advice(const models::Manifest& manifest, std::string_view use);

/// What the refused variant that came closest to the goal is refused for. Empty: one is kept, or none was measured.
[[nodiscard]] std::string optimize_shortfall(const models::Manifest& manifest);

/// What the times and the loss were measured on: engine, device, batches, rows.
[[nodiscard]] std::string optimize_measured(const models::Manifest& manifest);

/// "450 rows calibrate, 223 choose, 224 judge; 3 left out that also calibrate".
[[nodiscard]] std::string rows_text(const models::RowCounts& rows);

}  // namespace berth::figures
