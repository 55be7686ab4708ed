/// Which model is loaded although no request asks for it, because one is expected.
#pragma once

#include <optional>

#include "serving/dispatch/model_loads.h"

namespace berth::serving {

/// At least so much of its load time a preload must save: one in ten must be used that would else have been waited for.
/// With requests like the apps of a public trace (scripts/bench warm), 0.02 and 0.2 instead changed the requests that
/// wait by less than a fifth, and the preloads by a factor of 3.
inline constexpr double kPreloadGainMin = 0.1;

/// A preload that is worth it: of the cold models the most valuable one, into free memory or in place of idle models of
/// less value, if the load time that this is expected to save within the horizon, less what the evicted ones would have
/// saved, is at least kPreloadGainMin of its load time and the wait that it causes: the time that loads take more with
/// it than without, times the loads for requests that arrive in it, at the rate of the last minute, which begin half of
/// it later. Nothing while a load runs or any request waits for one. O(models x gaps).
[[nodiscard]] std::optional<LoadDecision> choose_preload(const DeviceState& device, const WarmDemand& demand,
                                                         Instant now);

}  // namespace berth::serving
