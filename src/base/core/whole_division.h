/// Division of whole numbers, rounded down or up for dividends of any sign.
#pragma once

#include <cstdint>

namespace berth {

/// The largest integer not above the quotient. Requires: divisor > 0.
[[nodiscard]] constexpr std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) {
  const std::int64_t quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

/// The smallest integer not below the quotient. Requires: divisor > 0.
[[nodiscard]] constexpr std::int64_t ceil_divide(std::int64_t dividend, std::int64_t divisor) {
  return -floor_divide(-dividend, divisor);
}

}  // namespace berth
