/// Numbers of a page as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace berth::report {

using Json = nlohmann::ordered_json;

template <class T>
[[nodiscard]] Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// Rounded to five significant digits, as more cannot be seen; 0 if not finite.
[[nodiscard]] double rounded(double value);

[[nodiscard]] Json series(const std::vector<double>& values);
/// Absent values are null.
[[nodiscard]] Json series(const std::vector<std::optional<double>>& values);

}  // namespace berth::report
