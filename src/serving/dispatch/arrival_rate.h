/// How many rows arrive per second, learned from arrivals.
#pragma once

#include "base/core/instant.h"

namespace berth::serving {

/// A mean over the recent past, in which an arrival counts exp(-age / memory).
class ArrivalRate {
 public:
  /// Requires: memory > 0.
  explicit ArrivalRate(Micros memory) : memory_s_(memory.to_seconds()) {}

  /// Requires: not before the last arrival.
  void add(Instant now, double rows);
  /// Rows per second; 0 before the first arrival. A span shorter than the memory is not taken for quiet: the sum is
  /// divided by the weight of the time since the first arrival.
  [[nodiscard]] double per_second(Instant now) const;

 private:
  double memory_s_;
  double sum_ = 0;  ///< of weights, at `last_`
  Instant first_;
  Instant last_;
  bool has_begun_ = false;
};

}  // namespace berth::serving
