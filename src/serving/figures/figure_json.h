/// What a model server says about itself, as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/json/writer.h"
#include "serving/service/figure_service.h"

namespace berth::serving {

/// Adds `requests` to `rows` to an open object. `has_batches`: otherwise `batches` and `rows` are null.
void put_counts(json::Writer& json, const RequestFigures& figures, bool has_batches);

/// `is_model`: the points are those of one model, and have latencies. `next`: the `continue` of the next page.
[[nodiscard]] std::string series_json(std::span<const FigurePoint> points, bool is_model,
                                      const std::optional<std::int64_t>& next);
[[nodiscard]] std::string memory_json(const MemoryFigures& memory);
[[nodiscard]] std::string usage_json(std::span<const UsageItem> items);
[[nodiscard]] std::string times_json(const TimeFigures& times);

}  // namespace berth::serving
