/// JSON put together from text: a library's numbers could not hold all digits of a rate.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/decimal.h"

namespace berth::cli::detail {

/// A name need not be UTF-8 (a file's stem): what is not is replaced, so that the output always is.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

/// The number with all its digits; JSON has no fractions, so a number that is no decimal is rounded.
[[nodiscard]] std::string exact_text(const Decimal& value);

/// Keys and values that are JSON already.
using Members = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string object_text(const Members& members);
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);

}  // namespace berth::cli::detail
