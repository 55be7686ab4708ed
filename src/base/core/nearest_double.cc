#include "base/core/nearest_double.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace berth {
namespace {

/// Exactly the value of a finite double.
Decimal exactly(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  constexpr int kDigits = std::numeric_limits<double>::digits;
  Decimal exact(static_cast<std::int64_t>(std::ldexp(fraction, kDigits)));
  exponent -= kDigits;
  for (; exponent > 0; --exponent) exact = exact * Decimal(2);
  for (; exponent < 0; ++exponent) exact = exact * Decimal(1, 2);
  return exact;
}

bool is_mantissa_odd(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return (static_cast<std::int64_t>(std::ldexp(fraction, std::numeric_limits<double>::digits)) & 1) != 0;
}

}  // namespace

double nearest_double(const Decimal& value) {
  const double inner = value.to_double();  // rounded towards 0
  const double outer = std::nextafter(inner, value.sign() * std::numeric_limits<double>::infinity());
  if (value.sign() == 0) return 0;
  const Decimal twice = value + value;
  const Decimal middle = exactly(inner) + exactly(outer);
  if (twice == middle) return is_mantissa_odd(inner) ? outer : inner;
  const bool is_beyond_middle = value.sign() > 0 ? twice > middle : twice < middle;
  return is_beyond_middle ? outer : inner;
}

}  // namespace berth
