/// What was decided for a service with a warm pool, and how that went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "domain/values/slice.h"

namespace berth {

/// Legal transitions: from each to each other one. A service begins cold unless its pool keeps slices.
enum class WarmPhase : std::uint8_t {
  kCold,     ///< no load, and no slice is kept
  kWarm,     ///< no load, and slices are kept ready
  kServing,  ///< it has load
};

[[nodiscard]] constexpr std::string_view phase_name(WarmPhase phase) {
  switch (phase) {
    case WarmPhase::kCold:
      return "Cold";
    case WarmPhase::kWarm:
      return "Warm";
    case WarmPhase::kServing:
      return "Serving";
  }
  return "";
}

/// A change of the phase.
struct WarmDecision {
  ServiceId service;
  Instant at;
  WarmPhase phase = WarmPhase::kCold;
  std::int64_t slices = 0;  ///< at least so many are kept from now on
  bool is_preload = false;  ///< from cold to warm, before a request that is expected
  std::string reason;
  friend bool operator==(const WarmDecision&, const WarmDecision&) = default;
};

/// The state of one service. Counts are of the time since the service was set.
struct WarmStatus {
  WarmDecision last;                     ///< the decision in force
  std::optional<Instant> expected_next;  ///< the next request, by the service's usual gaps
  std::int64_t idle_micro_usd = 0;       ///< what its slices cost while it had no load; 0 where the fleet has no price
  std::int64_t cold_starts = 0;          ///< load that met no ready slice
  std::int64_t preloads = 0;             ///< slices made before load that was expected
  std::int64_t hits = 0;                 ///< load that met a slice which was ready only because of a preload
  friend bool operator==(const WarmStatus&, const WarmStatus&) = default;
};

}  // namespace berth
