/// GPUs that are there and must not be changed: in a local world those that nobody gave into our hands. The engine
/// knows them as cordoned, with a reason that says why; people's own cordons stay as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/values/event.h"
#include "domain/values/gpu_state.h"

namespace berth::live {

/// What begins the reason of such a cordon. Nobody else's reason may.
inline constexpr std::string_view kObserved = "observed: ";

/// Whether its cordon is such a one.
[[nodiscard]] inline bool is_observed(const GpuState& state) { return state.scheduling_reason.starts_with(kObserved); }

/// The order after which a GPU is observed for this reason, or not any more (no reason); nothing: it is so already.
[[nodiscard]] std::optional<GpuScheduled> order_to_observe(GpuId gpu, const GpuState& state,
                                                           const std::optional<std::string>& why);

}  // namespace berth::live
