/// When to ask again after a failure.
#pragma once

#include "base/core/instant.h"
#include "base/core/rng.h"

namespace berth::kube {

/// Waits double from `first` to `last`; each is drawn between half of itself and the whole, so that clients that failed
/// together do not return together.
class BackOff {
 public:
  explicit BackOff(Micros first = Micros(200'000), Micros last = Micros::seconds(30)) : first_(first), last_(last) {}

  /// The wait after one more failure.
  [[nodiscard]] Micros next(Rng& rng);
  /// Something succeeded.
  void reset() { failure_count_ = 0; }
  [[nodiscard]] int failure_count() const { return failure_count_; }

 private:
  Micros first_;
  Micros last_;
  int failure_count_ = 0;
};

}  // namespace berth::kube
