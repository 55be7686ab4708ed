// Against integers of any length, which are read from decimal texts.
#include "base/core/proportion.h"

#include <fmt/format.h>
#include <gmpxx.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/core/rng.h"

namespace berth {
namespace {

constexpr Int128 kMax = (Int128{1} << 126U) - 1;

mpz_class exact(Int128 value) { return mpz_class(fmt::format("{}", value)); }

/// From -max to max, of all lengths, and near powers of two.
Int128 any_number(Rng& rng, Int128 max) {
  const auto bits = static_cast<unsigned __int128>(rng()) << 64U | rng();
  Int128 size = static_cast<Int128>(bits >> (2 + rng.below(126)));
  if (rng.below(4) == 0) size = (Int128{1} << rng.below(126)) + static_cast<Int128>(rng.below(3)) - 1;
  size = std::min(size, max);
  return rng.below(2) == 0 ? size : -size;
}

Int128 any_divisor(Rng& rng) {
  const Int128 number = any_number(rng, kMax);
  return number == 0 ? 1 : number < 0 ? -number : number;
}

bool fits(const mpz_class& number) { return mpz_sizeinbase(number.get_mpz_t(), 2) <= 126; }

mpz_class floor_of(const mpz_class& a, const mpz_class& b) {
  mpz_class quotient;
  mpz_fdiv_q(quotient.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
  return quotient;
}

RC_GTEST_PROP(ProportionProperty, DividesDownwardsExactly, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  for (int i = 0; i < 50; ++i) {
    const Int128 a = any_number(rng, kMax);
    const Int128 b = any_number(rng, kMax);
    const Int128 divisor = any_divisor(rng);
    if (!fits(floor_of(exact(a) * exact(b), exact(divisor)))) continue;
    const WholeQuotient found = multiply_divide(a, b, divisor);
    RC_ASSERT((found.remainder >= 0 && found.remainder < divisor));
    RC_ASSERT((exact(found.quotient) * exact(divisor) + exact(found.remainder) == exact(a) * exact(b)));
  }
}

RC_GTEST_PROP(ProportionProperty, RoundsToTheNearestAndTiesToTheEven, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  for (int i = 0; i < 50; ++i) {
    const Int128 a = any_number(rng, kMax);
    const Int128 b = any_number(rng, kMax);
    const Int128 divisor = rng.below(3) == 0 ? 2 : any_divisor(rng);
    const mpz_class floor = floor_of(exact(a) * exact(b), exact(divisor));
    if (!fits(floor) || !fits(floor + 1)) continue;
    const Int128 found = multiply_divide_half_even(a, b, divisor);
    const mpz_class twice_off = 2 * (exact(found) * exact(divisor) - exact(a) * exact(b));
    RC_ASSERT((abs(twice_off) <= exact(divisor)));
    if (abs(twice_off) == exact(divisor)) RC_ASSERT(found % 2 == 0);
  }
}

/// Floors, then one each to the largest remainders, found one after the other.
std::vector<mpz_class> plain_split(Int128 amount, const std::vector<Int128>& weights) {
  mpz_class whole = 0;
  for (const Int128 weight : weights) whole += exact(weight);
  std::vector<mpz_class> parts;
  std::vector<mpz_class> remainders;
  mpz_class left = exact(amount);
  for (const Int128 weight : weights) {
    const mpz_class product = exact(amount) * exact(weight);
    parts.push_back(floor_of(product, whole));
    remainders.push_back(product - parts.back() * whole);
    left -= parts.back();
  }
  for (; left > 0; --left) {
    const auto largest = std::ranges::max_element(remainders);
    parts[static_cast<std::size_t>(largest - remainders.begin())] += 1;
    *largest = -1;
  }
  return parts;
}

RC_GTEST_PROP(ProportionProperty, SplitsByLargestRemainder, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const Int128 max = Int128{1} << (1 + rng.below(119));
  std::vector<Int128> weights(1 + rng.below(20));
  for (Int128& weight : weights) {
    const Int128 number = any_number(rng, max);
    weight = rng.below(4) == 0 ? weights[0] : number < 0 ? -number : number;
  }
  weights[rng.below(weights.size())] += 1;
  const Int128 amount = any_number(rng, rng.below(2) == 0 ? 100 : kMax);
  const std::vector<Int128> parts = split_in_proportion(amount, weights);
  RC_ASSERT(std::accumulate(parts.begin(), parts.end(), Int128{0}) == amount);
  const std::vector<mpz_class> plain = plain_split(amount, weights);
  for (std::size_t i = 0; i < parts.size(); ++i) RC_ASSERT((exact(parts[i]) == plain[i]));
}

}  // namespace
}  // namespace berth
