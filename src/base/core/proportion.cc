#include "base/core/proportion.h"

#include <gmpxx.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "base/core/ensure.h"

namespace berth {
namespace {

using Words = std::array<std::uint64_t, 2>;

mpz_class widen_to_mpz(Int128 value) {
  const bool is_negative = value < 0;
  const auto size = static_cast<unsigned __int128>(is_negative ? -value : value);
  const Words words = {static_cast<std::uint64_t>(size), static_cast<std::uint64_t>(size >> 64U)};
  mpz_class number;
  mpz_import(number.get_mpz_t(), words.size(), -1, sizeof(std::uint64_t), 0, 0, words.data());
  return is_negative ? mpz_class(-number) : number;
}

Int128 narrow_to_int128(const mpz_class& number) {
  ENSURE(mpz_sizeinbase(number.get_mpz_t(), 2) <= 126);
  Words words = {0, 0};
  mpz_export(words.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, number.get_mpz_t());
  const auto size = static_cast<Int128>(static_cast<unsigned __int128>(words[1]) << 64U | words[0]);
  return sgn(number) < 0 ? -size : size;
}

}  // namespace

WholeQuotient multiply_divide(Int128 a, Int128 b, Int128 divisor) {
  ENSURE(divisor > 0);
  Int128 product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) {
    Int128 quotient = product / divisor;
    Int128 remainder = product % divisor;
    if (remainder < 0) {
      remainder += divisor;
      --quotient;
    }
    return {.quotient = quotient, .remainder = remainder};
  }
  const mpz_class wide_divisor = widen_to_mpz(divisor);
  mpz_class quotient;
  mpz_class remainder;
  const mpz_class wide_product = widen_to_mpz(a) * widen_to_mpz(b);
  mpz_fdiv_qr(quotient.get_mpz_t(), remainder.get_mpz_t(), wide_product.get_mpz_t(), wide_divisor.get_mpz_t());
  return {.quotient = narrow_to_int128(quotient), .remainder = narrow_to_int128(remainder)};
}

std::vector<Int128> by_largest_remainder(Int128 total, std::span<const WholeQuotient> quotients) {
  std::vector<Int128> parts;
  parts.reserve(quotients.size());
  Int128 left = total;
  for (const WholeQuotient& each : quotients) {
    parts.push_back(each.quotient);
    left -= each.quotient;
  }
  ENSURE(left >= 0 && left <= static_cast<Int128>(parts.size()));
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) {
    return quotients[i].remainder != quotients[j].remainder ? quotients[i].remainder > quotients[j].remainder : i < j;
  });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) parts[order[i]] += 1;
  return parts;
}

std::vector<Int128> split_in_proportion(Int128 amount, std::span<const Int128> weights) {
  const Int128 whole = std::accumulate(weights.begin(), weights.end(), Int128{0});
  std::vector<WholeQuotient> quotients;
  quotients.reserve(weights.size());
  for (const Int128 weight : weights) quotients.push_back(multiply_divide(amount, weight, whole));
  return by_largest_remainder(amount, quotients);
}

Int128 multiply_divide_half_even(Int128 amount, Int128 rate, Int128 divisor) {
  const WholeQuotient floor = multiply_divide(amount, rate, divisor);
  const Int128 missing = divisor - floor.remainder;
  const bool is_up = floor.remainder > missing || (floor.remainder == missing && floor.quotient % 2 != 0);
  return floor.quotient + (is_up ? 1 : 0);
}

}  // namespace berth
