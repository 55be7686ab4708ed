/// Numbers of JSON texts (RFC 8259, section 6), exactly.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace berth::serving::protocol::detail {

/// A number as it was written: (-1)^is_negative x digits x 10^exponent, if `is_exact`.
struct JsonNumber {
  std::string_view text = {};
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool is_negative = false;
  bool is_integer = true;  ///< has neither a fraction nor an exponent
  bool is_exact = true;    ///< false: `digits` cannot hold all its digits
};

/// Replaces `number` by that at the front of a text; false if there is none. In place, as a copy would cost more than
/// the digits.
[[nodiscard]] bool scan_number(std::string_view text, JsonNumber& number);

/// The nearest number of the type, ties to even; nothing if it is beyond the largest. What is nearer to 0 than to the
/// smallest becomes 0.
[[nodiscard]] std::optional<float> float_of(const JsonNumber& number);
[[nodiscard]] std::optional<double> double_of(const JsonNumber& number);

/// The value; nothing if it has a fraction or an exponent, or the type cannot hold it.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> integer_of(const JsonNumber& number) {
  if (!number.is_integer || !number.is_exact) return std::nullopt;
  if (!number.is_negative || number.digits == 0) {
    if (number.digits > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())) return std::nullopt;
    return static_cast<Integer>(number.digits);
  }
  if constexpr (std::unsigned_integral<Integer>) {
    return std::nullopt;
  } else {
    const auto below_zero_max = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()) + 1;
    if (number.digits > below_zero_max) return std::nullopt;
    return static_cast<Integer>(-static_cast<std::int64_t>(number.digits - 1) - 1);
  }
}

/// Appends the shortest text that reads back as the same number of that type, with a point or an exponent: a float of
/// 0.1 is 0.1, not 0.10000000149011612. Requires: it is finite.
void append_number(std::string& text, float number);
void append_number(std::string& text, double number);

}  // namespace berth::serving::protocol::detail
