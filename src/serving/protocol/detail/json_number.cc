#include "serving/protocol/detail/json_number.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>

#include "base/core/ensure.h"

namespace berth::serving::protocol::detail {
namespace {

constexpr std::int64_t kExponentMax = 1'000'000;  // of larger ones the sign is enough

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads the digits of a number; `at` moves over them.
class DigitScan {
 public:
  DigitScan(std::string_view text, JsonNumber& number) : text_(text), number_(number) {}

  [[nodiscard]] bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  /// At least one digit, which each move the point by `exponent_step`.
  bool take_digits(std::int64_t exponent_step) {
    const std::string_view digits = text_.substr(at_);
    std::uint64_t value = number_.digits;
    std::size_t count = 0;
    for (; count < digits.size() && is_digit(digits[count]); ++count) {
      const auto digit = static_cast<std::uint64_t>(digits[count] - '0');
      if (value <= kSafeMax) {
        value = value * 10 + digit;
      } else {
        add_carefully(digit, value);
      }
    }
    number_.digits = value;
    number_.exponent += exponent_step * static_cast<std::int64_t>(count);
    at_ += count;
    return count > 0;
  }
  bool take_exponent() {
    if (at_ == text_.size() || (text_[at_] != 'e' && text_[at_] != 'E')) return true;
    ++at_;
    number_.is_integer = false;
    const bool is_negative = is_at('-');
    if (is_negative || is_at('+')) ++at_;
    const std::size_t first = at_;
    std::int64_t exponent = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (exponent < kExponentMax) exponent = exponent * 10 + (text_[at_] - '0');
    }
    number_.exponent += is_negative ? -exponent : exponent;
    return at_ > first;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  /// Up to here one digit more always fits.
  static constexpr std::uint64_t kSafeMax = (std::numeric_limits<std::uint64_t>::max() - 9) / 10;

  void add_carefully(std::uint64_t digit, std::uint64_t& value) {
    std::uint64_t longer = 0;
    if (__builtin_mul_overflow(value, 10U, &longer) || __builtin_add_overflow(longer, digit, &longer)) {
      number_.is_exact = false;
    } else {
      value = longer;
    }
  }

  std::string_view text_;
  JsonNumber& number_;
  std::size_t at_ = 0;
};

/// The powers of ten that are doubles without rounding.
constexpr std::array kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// The double next to digits x 10^exponent where both are doubles without rounding, so that one rounding remains
/// (Clinger, "How to read floating point numbers accurately", 1990). Nothing elsewhere.
std::optional<double> rounded_once(const JsonNumber& number) {
  constexpr std::uint64_t kDigitsMax = std::uint64_t{1} << 53U;
  constexpr auto kPowerMax = static_cast<std::int64_t>(kPowers.size()) - 1;
  if (!number.is_exact || number.digits > kDigitsMax) return std::nullopt;
  if (number.exponent < -kPowerMax || number.exponent > kPowerMax) return std::nullopt;
  const auto digits = static_cast<double>(number.digits);
  const double size = number.exponent < 0 ? digits / kPowers[static_cast<std::size_t>(-number.exponent)]
                                          : digits * kPowers[static_cast<std::size_t>(number.exponent)];
  return number.is_negative ? -size : size;
}

/// Whether a number that no double or float can hold is too small, not too large: its first digit that is not 0 stands
/// behind the point.
bool is_tiny(const JsonNumber& number) {
  std::int64_t before_point = 0;  // digits from the first that is not 0 up to the point; below 0: zeros after it
  bool has_begun = false;
  bool is_after_point = false;
  for (const char c : number.text) {
    if (c == 'e' || c == 'E') break;
    if (c == '.') is_after_point = true;
    if (!is_digit(c)) continue;
    has_begun = has_begun || c != '0';
    if (has_begun && !is_after_point) ++before_point;
    if (!has_begun && is_after_point) --before_point;
  }
  std::int64_t exponent = 0;
  const std::size_t mark = number.text.find_first_of("eE");
  if (mark != std::string_view::npos) {
    JsonNumber power;
    DigitScan scan(number.text.substr(mark), power);
    ENSURE(scan.take_exponent());
    exponent = power.exponent;
  }
  return before_point + exponent <= 0;
}

template <class Real>
std::optional<Real> read_slowly(const JsonNumber& number) {
  Real value = 0;
  const char* const end = number.text.data() + number.text.size();
  const auto [rest, error] = std::from_chars(number.text.data(), end, value);
  const bool is_beyond = error == std::errc::result_out_of_range || !std::isfinite(value);
  if (!is_beyond) return value;
  if (!is_tiny(number)) return std::nullopt;
  return number.is_negative ? -Real{0} : Real{0};
}

template <class Real>
void append_shortest(std::string& text, Real number) {
  ENSURE(std::isfinite(number));
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  ENSURE(error == std::errc());
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  text += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) text += ".0";
}

}  // namespace

bool scan_number(std::string_view text, JsonNumber& number) {
  number = {};
  DigitScan scan(text, number);
  number.is_negative = scan.take('-');
  if (!scan.take('0') && !scan.take_digits(0)) return false;
  if (scan.take('.')) {
    number.is_integer = false;
    if (!scan.take_digits(-1)) return false;
  }
  if (!scan.take_exponent()) return false;
  number.text = text.substr(0, scan.at());
  return true;
}

std::optional<double> double_of(const JsonNumber& number) {
  if (const auto value = rounded_once(number)) return value;
  return read_slowly<double>(number);
}

std::optional<float> float_of(const JsonNumber& number) {
  // A double that was rounded once is rounded again to a float: that is the same as rounding once, unless it lies in
  // the middle between two floats, or the float has fewer digits than usual.
  constexpr std::uint64_t kBelowFloat = (std::uint64_t{1} << 29U) - 1;
  constexpr std::uint64_t kMiddle = std::uint64_t{1} << 28U;
  const auto value = rounded_once(number);
  const bool is_safe = value && (std::bit_cast<std::uint64_t>(*value) & kBelowFloat) != kMiddle &&
                       (*value == 0 || std::abs(*value) >= static_cast<double>(std::numeric_limits<float>::min()));
  if (!is_safe) return read_slowly<float>(number);
  const auto rounded = static_cast<float>(*value);
  return std::isfinite(rounded) ? std::optional(rounded) : std::nullopt;
}

void append_number(std::string& text, float number) { append_shortest(text, number); }
void append_number(std::string& text, double number) { append_shortest(text, number); }

}  // namespace berth::serving::protocol::detail
