/// GPUs that are present and must not be changed: in a local world those that the configuration does not list. The
/// engine knows them as cordoned, with a reason that says why; cordons of operators stay as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/values/event.h"
#include "domain/values/gpu_state.h"

namespace berth::live {

/// The reason of such a cordon begins with this. No other reason may.
inline constexpr std::string_view kObserved = "observed: ";

/// Whether the GPU is cordoned for that.
[[nodiscard]] inline bool is_observed(const GpuState& state) { return state.scheduling_reason.starts_with(kObserved); }

/// The order after which a GPU is observed for this reason, or no longer (no reason); nothing: that is so already.
[[nodiscard]] std::optional<GpuScheduled> order_to_observe(GpuId gpu, const GpuState& state,
                                                           const std::optional<std::string>& why);

}  // namespace berth::live
