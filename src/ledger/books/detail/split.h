/// Dividing an amount in proportion to whole weights, without losing any of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/core/decimal.h"

namespace berth::ledger::detail {

/// Divides amounts repeatedly; keeps its scratch memory.
class Splitter {
 public:
  /// parts[i] = floor(amount * weights[i] / whole); the rest is given out one each to the largest remainders; ties: in
  /// order. Requires: amount >= 0, below 2^100; weights from 0 to below 2^60 with the sum `whole`; as many parts as
  /// weights. O(n), and O(n log n) if the rest is large.
  void split(Int128 amount, std::span<const std::int64_t> weights, std::int64_t whole, std::span<Int128> parts);

 private:
  void hand_out(std::size_t left_over, std::span<Int128> parts);

  /// A divisor and floor((2^64 - 1) / divisor), which turns a division of a product below 2^63 into a multiplication.
  struct Reciprocal {
    std::uint64_t divisor = 1;
    std::uint64_t factor = UINT64_MAX;
  };
  [[nodiscard]] const Reciprocal& reciprocal_of(std::uint64_t divisor);

  Reciprocal reciprocal_;  ///< of the last divisor: often the next one, too
  std::vector<std::uint64_t> remainders_;
  std::vector<std::uint64_t> order_;
};

}  // namespace berth::ledger::detail
