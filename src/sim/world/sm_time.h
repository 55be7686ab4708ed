/// SM-time of a world.
#pragma once

namespace berth::sim {

/// SM-microseconds since second 0: of slices with an owner, and of those that ran a batch or a retraining.
struct SmTime {
  double allocated_us = 0;
  double busy_us = 0;
  friend bool operator==(const SmTime&, const SmTime&) = default;
};

}  // namespace berth::sim
