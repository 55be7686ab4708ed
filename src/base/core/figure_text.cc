#include "base/core/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace berth {

std::string separated(std::string digits) {
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string with_separators(std::int64_t value) { return separated(fmt::format("{}", value)); }

std::string dollars(std::int64_t micro_usd) {
  const std::int64_t size = micro_usd < 0 ? -micro_usd : micro_usd;
  const int digits = size >= 1'000'000'000 ? 2 : size >= 1'000'000 ? 4 : 6;
  return "$" + separated(fmt::format("{:.{}f}", static_cast<double>(micro_usd) / 1e6, digits));
}

std::string significant(double value) {
  const double size = std::abs(value);
  const int digits = size == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return separated(fmt::format("{:.{}f}", value, digits));
}

std::string percent(double share) { return fmt::format("{:.2f}%", share * 100); }

std::string with_digits(const Decimal& value, int digits) {
  std::int64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  const Decimal size = value.sign() < 0 ? Decimal(0) - value : value;
  // The whole part is kept separate: scaled, it could overflow.
  std::int64_t whole = size.floor();
  std::int64_t rest = ((size - Decimal(whole)) * Decimal(scale)).round_half_even();
  if (rest == scale) {
    ++whole;
    rest = 0;
  }
  return fmt::format("{}{}.{:0{}}", value.sign() < 0 ? "-" : "", whole, rest, digits);
}

}  // namespace berth
