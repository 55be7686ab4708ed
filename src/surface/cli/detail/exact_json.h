/// JSON from a file, with every fraction kept as it was written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/result.h"

namespace berth::cli::detail {

/// The document. A number that is not a 64-bit integer becomes a binary value that holds its text (a double would round
/// it; JSON text has no binary values of its own): ask `exact_number`. Errors: no JSON, a key twice in one object, more
/// than 16 levels or 100 keys in an object, each with file, line and column.
[[nodiscard]] Result<nlohmann::ordered_json> parse_exact_json(std::string_view text, const std::string& file);

/// The number that a value of such a document is; nothing when it is none, or too long for a Decimal.
[[nodiscard]] std::optional<Decimal> exact_number(const nlohmann::ordered_json& value);

}  // namespace berth::cli::detail
