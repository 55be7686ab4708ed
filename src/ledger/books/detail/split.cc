#include "ledger/books/detail/split.h"

#include <algorithm>
#include <numeric>

#include "base/core/ensure.h"

namespace berth::ledger::detail {

void Splitter::split(Int128 amount, std::span<const std::int64_t> weights, std::int64_t whole,
                     std::span<Int128> parts) {
  ENSURE(weights.size() == parts.size() && amount >= 0 && whole > 0);
  remainders_.resize(weights.size());
  const auto divisor = static_cast<std::uint64_t>(whole);
  Int128 remainder_sum = 0;
  // Then no product needs more than 64 bits.
  if (divisor < std::uint64_t{1} << 43U && amount < Int128{1} << 63U && amount * whole < Int128{1} << 63U) {
    const auto small = static_cast<std::uint64_t>(amount);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::uint64_t product = small * static_cast<std::uint64_t>(weights[i]);
      parts[i] = product / divisor;
      remainders_[i] = product % divisor;
      remainder_sum += remainders_[i];
    }
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

void Splitter::hand_out(std::size_t left_over, std::span<Int128> parts) {
  const auto is_first = [&](std::uint32_t a, std::uint32_t b) {
    return remainders_[a] != remainders_[b] ? remainders_[a] > remainders_[b] : a < b;
  };
  if (left_over == 1) {
    const auto largest = std::ranges::max_element(remainders_);  // ties: the first
    parts[static_cast<std::size_t>(largest - remainders_.begin())] += 1;
    return;
  }
  order_.resize(parts.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(left_over);
  if (end != order_.end()) std::nth_element(order_.begin(), end, order_.end(), is_first);
  for (auto at = order_.begin(); at != end; ++at) parts[*at] += 1;
}

}  // namespace berth::ledger::detail
