/// Which models make room for another.
#pragma once

#include <optional>
#include <vector>

#include "serving/dispatch/device_state.h"

namespace berth::serving {

/// Idle resident models to evict, in this order, until `bytes` fit: those whose last batch ended first; a model without
/// one goes before all others, ties by name. Nothing if all of them together are not enough; empty if the bytes fit.
[[nodiscard]] std::optional<std::vector<ModelIndex>> least_recent_victims(const DeviceState& device, std::int64_t bytes,
                                                                          Instant now);

enum class VictimsAre {
  kIdle,        ///< now
  kIdleAtLast,  ///< now, or when what they have is answered
};

/// The same for any order: `candidates` are resident models, the first goes first; those that are not idle or
/// may not leave are skipped.
[[nodiscard]] std::optional<std::vector<ModelIndex>> victims_of(const DeviceState& device, std::int64_t bytes,
                                                                const std::vector<ModelIndex>& candidates, Instant now,
                                                                VictimsAre which = VictimsAre::kIdle);

}  // namespace berth::serving
