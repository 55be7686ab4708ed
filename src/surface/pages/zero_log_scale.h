/// A scale that includes 0 and is logarithmic for larger values: for waits and queues, often 0 and sometimes huge.
#pragma once

#include <algorithm>
#include <cmath>

namespace berth::report {

/// Linear from 0 to `least`, logarithmic from there to `most`. Requires: 0 < least < most.
struct ZeroLogScale {
  double least = 1;
  double most = 10;
  double at_zero = 0;
  double at_least = 0;
  double at_most = 1;

  [[nodiscard]] double at(double value) const {
    if (value <= 0) return at_zero;
    if (value < least) return at_zero + (at_least - at_zero) * value / least;
    return at_least + (at_most - at_least) * std::min(1.0, std::log(value / least) / std::log(most / least));
  }
};

}  // namespace berth::report
