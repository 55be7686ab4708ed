/// How fast requests may follow each other: a bucket of tokens.
#pragma once

#include <cstdint>

#include "base/core/instant.h"

namespace berth::kube {

class Pace {
 public:
  /// Requires: both are positive. After a pause, `burst` requests may follow at once.
  Pace(std::int64_t per_second, std::int64_t burst);

  /// Books one request, and says when it may be sent: now or later. Calls have ascending times.
  [[nodiscard]] Instant reserve(Instant now);
  /// Books one request if it may be sent now; otherwise nothing is booked.
  [[nodiscard]] bool try_take(Instant now);

 private:
  Micros interval_;
  Micros slack_;  ///< of a full bucket
  Instant next_;  ///< when the bucket would be empty without a burst
  bool is_fresh_ = true;
};

}  // namespace berth::kube
