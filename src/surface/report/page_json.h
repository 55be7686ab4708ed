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

/// Five significant digits: more cannot be seen. What is not finite is 0.
[[nodiscard]] double rounded(double value);

[[nodiscard]] Json series(const std::vector<double>& values);
/// Absent values are null.
[[nodiscard]] Json series(const std::vector<std::optional<double>>& values);

}  // namespace berth::report
