/// The engine's knowledge of a GPU besides its slices: two independent facts. A cordoned GPU that is lost and comes
/// back is still cordoned.
#pragma once

#include <cstdint>
#include <string>

#include "base/core/instant.h"

namespace berth {

enum class GpuHealth : std::uint8_t {
  kOk,
  kLost,  ///< its slices are gone, and it cannot be used until it returns
};

enum class GpuScheduling : std::uint8_t {
  kOpen,
  kCordoned,  ///< existing slices stay, and no change begins
  kDraining,  ///< its slices are destroyed; when the last one is gone it is cordoned, or given back if it was released
  kOrdered,   ///< rented, but not there yet
  kAbsent,    ///< not rented
};

/// Failed creations and destructions on a GPU. The count restarts when a creation that was ordered later succeeds, or
/// when the GPU is lost or scheduled. Failures of actions that were ordered together, or before the first failure was
/// known, count once.
struct ActionFailures {
  std::int64_t count = 0;
  Instant latest;
  std::uint64_t known_number = 0;  ///< the GPU's latest Action::number when the last one was counted
  friend bool operator==(const ActionFailures&, const ActionFailures&) = default;
};

struct GpuState {
  GpuHealth health = GpuHealth::kOk;
  GpuScheduling scheduling = GpuScheduling::kOpen;
  Instant health_since;
  Instant scheduling_since;
  std::string health_reason = {};
  std::string scheduling_reason = {};
  ActionFailures failures = {};

  /// Whether plans may change it.
  [[nodiscard]] bool is_open() const { return health == GpuHealth::kOk && scheduling == GpuScheduling::kOpen; }
  friend bool operator==(const GpuState&, const GpuState&) = default;
};

}  // namespace berth
