/// JSON from a file, with every fraction kept as it was written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/decimal.h"
#include "base/core/result.h"

namespace berth::codec {

/// The document. A number that is not a 64-bit integer becomes a binary value that holds its text (a double would round
/// it; JSON text has no binary values of its own): use `exact_number` to read it. Errors: not JSON, a repeated key in
/// an object, more than 16 levels or 100 keys in an object, each with file, line and column.
[[nodiscard]] Result<nlohmann::ordered_json> parse_exact_json(std::string_view text, const std::string& file);

/// A value of such a document as a number; nothing if it is no number, or too long for a Decimal.
[[nodiscard]] std::optional<Decimal> exact_number(const nlohmann::ordered_json& value);

}  // namespace berth::codec
