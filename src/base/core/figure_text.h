/// Figures as text for people: separators between thousands, dollars, shares, decimals of a fixed length.
#pragma once

#include <cstdint>
#include <string>

#include "base/core/decimal.h"

namespace berth {

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string with_separators(std::int64_t value);
/// Commas between groups of three of the digits before the point. Requires: `digits` is not empty.
[[nodiscard]] std::string separated(std::string digits);
/// Micro-dollars as dollars: two digits after the point from $1,000 on, four from $1, else six.
[[nodiscard]] std::string dollars(std::int64_t micro_usd);
/// About three significant digits: 1,234 or 12.3 or 1.23 or 0.012.
[[nodiscard]] std::string significant(double value);
/// A share as "98.31%".
[[nodiscard]] std::string percent(double share);
/// The value with that many digits after the point, rounded half to even. Requires: 1 <= digits <= 17.
[[nodiscard]] std::string with_digits(const Decimal& value, int digits);

}  // namespace berth
