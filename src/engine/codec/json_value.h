/// JSON of values that may be absent.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace berth::codec {

/// The value, or null.
template <class T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace berth::codec
