/// Numbers in a page's JSON.
#pragma once

#include <optional>
#include <vector>

#include "base/json/writer.h"

namespace berth::report {

/// Rounded to five significant digits, because more would not be visible; 0 if not finite.
[[nodiscard]] double rounded(double value);

void write_series(json::Writer& json, const std::vector<double>& values);
/// Absent values are null.
void write_series(json::Writer& json, const std::vector<std::optional<double>>& values);

}  // namespace berth::report
