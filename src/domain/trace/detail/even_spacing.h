/// The generator `constant`: requests evenly spaced, exact to the microsecond.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/decimal.h"

namespace berth::detail {

/// Request k (k = 0, 1, ...) arrives floor(k x 10^6 / rate) microseconds after the trace's second 0, for any rate: no
/// double, no drift. A rate of at most 18 decimal places uses 128-bit integers (a few ns per request), any other one
/// exact rationals (microseconds).
class EvenSpacing {
 public:
  /// Requires: 0 <= rate <= kRequestsPerSecondMax.
  explicit EvenSpacing(const Decimal& rate);

  /// Requests in a second of the trace. O(1). Requires: 0 <= second <= kTraceSecondsMax.
  [[nodiscard]] std::int64_t count(std::int64_t second) const { return before(second + 1) - before(second); }
  /// Their offsets from its beginning, in microseconds, ascending.
  void offsets(std::int64_t second, std::vector<std::uint32_t>& out) const;

 private:
  [[nodiscard]] std::int64_t before(std::int64_t second) const;
  void offsets_of_integers(std::int64_t second, std::vector<std::uint32_t>& out) const;
  void offsets_of_rationals(std::int64_t second, std::vector<std::uint32_t>& out) const;

  Decimal rate_;
  std::uint64_t numerator_ = 0;    ///< rate = numerator / denominator, if they fit
  std::uint64_t denominator_ = 0;  ///< 0: they do not fit
};

}  // namespace berth::detail
