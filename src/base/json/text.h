/// JSON assembled from text: the library's number types cannot hold all digits of a rate.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/decimal.h"

namespace berth::json {

/// The value as JSON text. Bytes that are not UTF-8 (in a file name, say) are replaced, so the output is valid UTF-8.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

/// The value, or null.
template <class T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// The number with all its digits. JSON has no fractions, so a number without a finite decimal form is rounded.
[[nodiscard]] std::string exact_text(const Decimal& value);

/// Keys, and values that are JSON text already.
using Members = std::vector<std::pair<std::string_view, std::string>>;
/// One JSON object, one JSON list, of parts that are JSON text already.
[[nodiscard]] std::string object_text(const Members& members);
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);

}  // namespace berth::json
