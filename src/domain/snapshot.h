/// The snapshot: what the stages may read. `state/` builds it, nobody else.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/instant.h"
#include "domain/event.h"
#include "domain/slice.h"

namespace berth {

/// A slice as the engine knows it.
struct StandingSlice {
  Holding holding;
  bool is_ready = false;    ///< stands and does its holders' work
  bool is_leaving = false;  ///< asked to go
  friend bool operator==(const StandingSlice&, const StandingSlice&) = default;
};

/// A service as the engine knows it.
struct ServiceState {
  /// The latest seconds seen, oldest first, at most history_seconds of them; negative seconds are history before the
  /// run.
  std::deque<ServiceSecond> seconds;
  bool is_retraining_due = false;  ///< due and not done
  friend bool operator==(const ServiceState&, const ServiceState&) = default;
};

struct Snapshot {
  std::uint64_t version = 0;  ///< grows by one with each event applied
  Instant now;
  std::vector<StandingSlice> slices;   ///< sorted by slice
  std::vector<ServiceState> services;  ///< by ServiceId
};

}  // namespace berth
