/// How long a batch waits for more rows when a lane is free. Batches that wait cost less lane time per row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/core/instant.h"

namespace berth::serving {

/// Finds its length by itself: it grows while requests are in time, and shrinks with each that is not, so that on
/// average one in `kMissesPerRequest` is missed, or none of the time is spent waiting.
class HoldLength {
 public:
  void learn_in_time() {
    if (share_ < kShareMax) share_ = share_ + kStep * kMissesPerRequest;
  }
  void learn_miss() { share_ = share_ > kStep ? share_ - kStep : 0; }

  /// How long after its arrival the most urgent request of a batch is held, if its target is `target` and the batch
  /// with one more row takes `batch`.
  [[nodiscard]] Micros of(Micros target, Micros batch) const {
    const std::int64_t room = std::min((target - batch).count(), kBatchesMax * batch.count());
    return Micros(static_cast<std::int64_t>(share_ * static_cast<double>(std::max<std::int64_t>(room, 0))));
  }

 private:
  static constexpr double kShareMax = 0.6;
  /// A target that is far off is no reason for slow answers: what a batch saves is at most its own time.
  static constexpr std::int64_t kBatchesMax = 20;
  static constexpr double kStep = 0.05;
  static constexpr double kMissesPerRequest = 0.0005;

  double share_ = 0.25;  ///< of the room
};

}  // namespace berth::serving
