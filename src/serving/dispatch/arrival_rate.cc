#include "serving/dispatch/arrival_rate.h"

#include <cmath>

namespace berth::serving {

void ArrivalRate::add(Instant now, double rows) {
  if (!has_begun_) {
    has_begun_ = true;
    first_ = last_ = now;
  }
  sum_ = sum_ * std::exp(-(now - last_).to_seconds() / memory_s_) + rows;
  last_ = now;
}

double ArrivalRate::per_second(Instant now) const {
  if (!has_begun_) return 0;
  const double memories = (now - first_).to_seconds() / memory_s_;
  constexpr double kForGood = 40;  // 1 - exp(-40) is 1 in a double
  const double seen = memories < kForGood ? -std::expm1(-memories) : 1;
  const double sum = sum_ * std::exp(-(now - last_).to_seconds() / memory_s_);
  // A single arrival says little of the rate: it counts as if it had been the only one in a whole memory.
  constexpr double kSeenMin = 0.05;
  return sum / (memory_s_ * (seen > kSeenMin ? seen : 1));
}

}  // namespace berth::serving
