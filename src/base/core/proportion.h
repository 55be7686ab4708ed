/// Dividing whole numbers in proportion, exactly, however large the products are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/core/decimal.h"

namespace berth {

/// a * b / divisor, rounded down, and what is left over: from 0 to below the divisor.
struct WholeQuotient {
  Int128 quotient = 0;
  Int128 remainder = 0;
};
/// Requires: divisor > 0; the quotient fits 127 bits.
[[nodiscard]] WholeQuotient multiply_divide(Int128 a, Int128 b, Int128 divisor);

/// Whole numbers with the sum `total`: the quotients, plus 1 for those with the largest remainders (ties in order)
/// until the sum is reached. Requires: 0 <= total - sum of the quotients <= their number.
[[nodiscard]] std::vector<Int128> by_largest_remainder(Int128 total, std::span<const WholeQuotient> quotients);

/// `amount`, which may be negative, in proportion to weights that are at least 0 and not all 0.
[[nodiscard]] std::vector<Int128> split_in_proportion(Int128 amount, std::span<const Int128> weights);

/// amount * rate / divisor, to the nearest whole number, ties to the even one. Requires as for multiply_divide.
[[nodiscard]] Int128 multiply_divide_half_even(Int128 amount, Int128 rate, Int128 divisor);

}  // namespace berth
