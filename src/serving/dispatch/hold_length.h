/// How long a batch waits for more rows when a lane is free. Batches that wait cost less lane time per row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "serving/dispatch/request.h"

namespace berth::serving {

/// A batch that could start now.
struct HeldBatch {
  Micros target;         ///< of its most urgent request
  Micros with_one_more;  ///< how long it takes with one more row
  RowCount rows = 1;     ///< at least 1
  double worth = 1;      ///< of rows that join: 0 to 1
};

/// Finds its length by itself: it grows while requests are in time, and shrinks with each that is not, so that on
/// average one in `kMissesPerRequest` is missed, or none of the time is spent waiting.
class HoldLength {
 public:
  void learn_in_time() {
    if (share_ < kShareMax) share_ = share_ + kStep * kMissesPerRequest;
  }
  void learn_miss() { share_ = share_ > kStep ? share_ - kStep : 0; }

  /// How long after its arrival the most urgent request of the batch is held.
  [[nodiscard]] Micros of(const HeldBatch& batch) const {
    const std::int64_t room = (batch.target - batch.with_one_more).count();
    const std::int64_t limit = kRowTimesMax * batch.with_one_more.count() / batch.rows;
    const auto longest = static_cast<double>(std::max<std::int64_t>(std::min(room, limit), 0));
    return Micros(static_cast<std::int64_t>(share_ * batch.worth * longest));
  }

 private:
  static constexpr double kShareMax = 0.6;
  /// In the batch's time per row. A target that is far off is no reason for slow answers: what a row saves by joining
  /// is at most the time of a batch, and all rows of the batch wait for it.
  static constexpr std::int64_t kRowTimesMax = 12;
  static constexpr double kStep = 0.05;
  static constexpr double kMissesPerRequest = 0.0005;

  double share_ = 0.25;  ///< of the room
};

}  // namespace berth::serving
