#include "ledger/books/detail/split.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/core/ensure.h"

namespace berth::ledger::detail {

void Splitter::split(Int128 amount, std::span<const std::int64_t> weights, std::int64_t whole,
                     std::span<Int128> parts) {
  ENSURE(weights.size() == parts.size() && amount >= 0 && whole > 0);
  remainders_.resize(weights.size());
  const auto divisor = static_cast<std::uint64_t>(whole);
  Int128 remainder_sum = 0;
  // Then no product, and no sum of remainders, needs more than 64 bits.
  constexpr std::size_t kSmallCountMax = std::size_t{1} << 20U;
  if (divisor < std::uint64_t{1} << 43U && weights.size() <= kSmallCountMax && amount < Int128{1} << 63U &&
      amount * whole < Int128{1} << 63U) {
    const auto small = static_cast<std::uint64_t>(amount);
    const std::uint64_t factor = reciprocal_of(divisor).factor;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::uint64_t product = small * static_cast<std::uint64_t>(weights[i]);
      // At most 1 too small: product * (2^64 / divisor - factor) < 2^64.
      auto quotient = static_cast<std::uint64_t>(static_cast<unsigned __int128>(product) * factor >> 64U);
      std::uint64_t remainder = product - quotient * divisor;
      if (remainder >= divisor) {
        ++quotient;
        remainder -= divisor;
      }
      parts[i] = quotient;
      remainders_[i] = remainder;
      sum += remainder;
    }
    remainder_sum = sum;
  } else {
    // amount = quotient * whole + rest, so amount * w / whole = quotient * w + rest * w / whole.
    const Int128 quotient = amount / whole;
    const Int128 rest = amount % whole;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Int128 product = rest * weights[i];
      parts[i] = quotient * weights[i] + product / whole;
      remainders_[i] = static_cast<std::uint64_t>(product % whole);
      remainder_sum += remainders_[i];
    }
  }
  if (remainder_sum > 0) hand_out(static_cast<std::size_t>(remainder_sum / whole), parts);
}

const Splitter::Reciprocal& Splitter::reciprocal_of(std::uint64_t divisor) {
  if (reciprocal_.divisor != divisor) reciprocal_ = {.divisor = divisor, .factor = UINT64_MAX / divisor};
  return reciprocal_;
}

void Splitter::hand_out(std::size_t left_over, std::span<Int128> parts) {
  const auto is_first = [&](std::uint64_t a, std::uint64_t b) {
    return remainders_[a] != remainders_[b] ? remainders_[a] > remainders_[b] : a < b;
  };
  if (left_over == 1) {
    const auto largest = std::ranges::max_element(remainders_);  // ties: the first
    parts[static_cast<std::size_t>(largest - remainders_.begin())] += 1;
    return;
  }
  constexpr std::uint64_t kIndexBits = 20;
  constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << kIndexBits) - 1;
  const bool are_small = parts.size() <= kIndexMask && std::ranges::max(remainders_) <= UINT64_MAX >> kIndexBits;
  order_.resize(parts.size());
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(left_over);
  if (are_small) {
    // Remainder and index in one number: the largest remainders first, of equal ones the first index.
    for (std::size_t i = 0; i < parts.size(); ++i) order_[i] = remainders_[i] << kIndexBits | (kIndexMask - i);
    if (end != order_.end()) std::ranges::nth_element(order_, end, std::ranges::greater());
    for (auto at = order_.begin(); at != end; ++at) parts[kIndexMask - (*at & kIndexMask)] += 1;
    return;
  }
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  if (end != order_.end()) std::ranges::nth_element(order_, end, is_first);
  for (auto at = order_.begin(); at != end; ++at) parts[*at] += 1;
}

}  // namespace berth::ledger::detail
