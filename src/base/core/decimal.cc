#include "base/core/decimal.h"

#include <fmt/format.h>
#include <gmpxx.h>

#include <cctype>
#include <utility>

#include "base/core/ensure.h"

namespace berth {
namespace {

constexpr std::size_t kTextLengthMax = 40;
constexpr int kExponentMax = 30;
constexpr int kFractionDigitsMax = 80;

struct Parts {
  std::string digits;
  int exponent = 0;
  bool is_negative = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the sign, digits and fraction from the front of `text`; false when there is no digit.
bool take_mantissa(std::string_view& text, Parts& parts) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.is_negative = text.front() == '-';
    text.remove_prefix(1);
  }
  bool is_fraction = false;
  while (!text.empty() && (is_digit(text.front()) || (text.front() == '.' && !is_fraction))) {
    if (text.front() == '.') {
      is_fraction = true;
    } else {
      parts.digits += text.front();
      if (is_fraction) --parts.exponent;
    }
    text.remove_prefix(1);
  }
  return !parts.digits.empty();
}

/// Takes "e-3" from the front of `text`; false when it is malformed or too large.
bool take_exponent(std::string_view& text, Parts& parts) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return true;
  text.remove_prefix(1);
  bool is_negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    is_negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > 3) return false;
  int exponent = 0;
  while (!text.empty() && is_digit(text.front())) {
    exponent = exponent * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  if (exponent > kExponentMax) return false;
  parts.exponent += is_negative ? -exponent : exponent;
  return true;
}

mpz_class power_of_ten(int exponent) {
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(exponent));
  return power;
}

mpz_class floor_of(mpq_srcptr value) {
  mpz_class quotient;
  mpz_fdiv_q(quotient.get_mpz_t(), mpq_numref(value), mpq_denref(value));
  return quotient;
}

mpq_class plus_half(mpq_srcptr value) {
  mpq_class sum(1, 2);
  mpq_add(sum.get_mpq_t(), sum.get_mpq_t(), value);
  return sum;
}

std::int64_t to_int64(const mpz_class& value) {
  ENSURE(value.fits_slong_p());
  return value.get_si();
}

/// Requires: at most 100 bits.
Int128 to_int128(const mpz_class& value) {
  const mpz_class magnitude = abs(value);
  const mpz_class high = magnitude >> 64;
  const mpz_class low = magnitude - (high << 64);
  const Int128 result = (static_cast<Int128>(high.get_ui()) << 64) + static_cast<Int128>(low.get_ui());
  return sgn(value) < 0 ? -result : result;
}

}  // namespace

Decimal::Decimal(std::int64_t numerator, std::int64_t denominator) : Decimal() {
  ENSURE(denominator > 0);
  mpq_set_si(value_, numerator, static_cast<unsigned long>(denominator));
  mpq_canonicalize(value_);
}

/// As mpq_init and mpq_set, but each number is allocated once, at its size.
Decimal::Decimal(const Decimal& other) {
  mpz_init_set(mpq_numref(value_), mpq_numref(other.value_));
  mpz_init_set(mpq_denref(value_), mpq_denref(other.value_));
}

Result<Decimal> Decimal::parse(std::string_view text) {
  const auto refuse = [&] {
    const std::string shown(text.substr(0, kTextLengthMax));
    return invalid(fmt::format("wanted a number, found \"{}\"{}", shown, text.size() > kTextLengthMax ? "..." : ""));
  };
  if (text.size() > kTextLengthMax) return refuse();
  Parts parts;
  std::string_view rest = text;
  if (!take_mantissa(rest, parts) || !take_exponent(rest, parts) || !rest.empty()) return refuse();
  mpq_class value(mpz_class(parts.digits, 10));
  if (parts.exponent > 0) value *= power_of_ten(parts.exponent);
  if (parts.exponent < 0) value /= power_of_ten(-parts.exponent);
  if (parts.is_negative) value = -value;
  Decimal read;
  mpq_swap(read.value_, value.get_mpq_t());
  return read;
}

std::string Decimal::to_string() const {
  const mpz_class denominator(mpq_denref(value_));
  int digit_count = 0;
  mpz_class scale = 1;
  while (scale % denominator != 0 && digit_count < kFractionDigitsMax) {
    scale *= 10;
    ++digit_count;
  }
  if (scale % denominator != 0) return mpq_class(value_).get_str();
  const mpz_class scaled = mpz_class(mpq_numref(value_)) * (scale / denominator);
  std::string digits = mpz_class(abs(scaled)).get_str();
  const auto width = static_cast<std::size_t>(digit_count);
  if (digits.size() <= width) digits.insert(0, width + 1 - digits.size(), '0');
  if (width > 0) digits.insert(digits.size() - width, 1, '.');
  return (sgn(scaled) < 0 ? "-" : "") + digits;
}

std::int64_t Decimal::round_half_up() const { return to_int64(floor_of(plus_half(value_).get_mpq_t())); }

std::int64_t Decimal::round_half_even() const {
  const mpq_class shifted = plus_half(value_);
  const mpz_class rounded = floor_of(shifted.get_mpq_t());
  const bool is_tie = shifted.get_den() == 1;
  const bool is_odd = mpz_odd_p(rounded.get_mpz_t()) != 0;
  return to_int64(is_tie && is_odd ? mpz_class(rounded - 1) : rounded);
}

std::int64_t Decimal::floor() const { return to_int64(floor_of(value_)); }

bool Decimal::fits_int64() const {
  const mpq_class limit(mpz_class(1) << 62);
  mpq_class magnitude;
  mpq_abs(magnitude.get_mpq_t(), value_);
  return magnitude < limit;
}

Decimal operator+(const Decimal& a, const Decimal& b) {
  Decimal sum;
  mpq_add(sum.value_, a.value_, b.value_);
  return sum;
}

Decimal operator-(const Decimal& a, const Decimal& b) {
  Decimal difference;
  mpq_sub(difference.value_, a.value_, b.value_);
  return difference;
}

Decimal operator*(const Decimal& a, const Decimal& b) {
  Decimal product;
  mpq_mul(product.value_, a.value_, b.value_);
  return product;
}

Decimal operator/(const Decimal& a, const Decimal& b) {
  ENSURE(b.sign() != 0);
  Decimal quotient;
  mpq_div(quotient.value_, a.value_, b.value_);
  return quotient;
}

std::optional<std::vector<Int128>> Decimal::to_common_integers(std::span<const Decimal> values) {
  constexpr std::size_t kBitsMax = 100;
  mpz_class common = 1;
  for (const Decimal& value : values) mpz_lcm(common.get_mpz_t(), common.get_mpz_t(), mpq_denref(value.value_));
  std::vector<mpz_class> scaled;
  scaled.reserve(values.size());
  mpz_class shared;
  for (const Decimal& value : values) {
    mpz_class& whole = scaled.emplace_back();
    mpz_divexact(whole.get_mpz_t(), common.get_mpz_t(), mpq_denref(value.value_));
    mpz_mul(whole.get_mpz_t(), whole.get_mpz_t(), mpq_numref(value.value_));
    shared = gcd(shared, scaled.back());
  }
  std::vector<Int128> result;
  result.reserve(values.size());
  for (const mpz_class& value : scaled) {
    const mpz_class least = shared == 0 ? value : mpz_class(value / shared);
    if (mpz_sizeinbase(least.get_mpz_t(), 2) > kBitsMax) return std::nullopt;
    result.push_back(to_int128(least));
  }
  return result;
}

std::string Decimal::fraction() const {
  return mpz_class(mpq_numref(value_)).get_str() + "/" + mpz_class(mpq_denref(value_)).get_str();
}

bool Decimal::read_fraction(std::string_view fraction) {
  const auto is_digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::size_t slash = fraction.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view numerator = fraction.substr(0, slash);
  const std::string_view denominator = fraction.substr(slash + 1);
  const bool is_number = is_digits(numerator.starts_with('-') ? numerator.substr(1) : numerator);
  if (!is_number || !is_digits(denominator) || denominator.front() == '0') return false;
  mpq_class value;
  value.get_num().set_str(std::string(numerator), 10);
  value.get_den().set_str(std::string(denominator), 10);
  value.canonicalize();
  if (value.get_num().get_str() != numerator || value.get_den().get_str() != denominator) return false;
  mpq_swap(value_, value.get_mpq_t());
  return true;
}

}  // namespace berth
