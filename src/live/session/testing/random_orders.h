/// Orders and services drawn at random, small enough that a few GPUs get into every state.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/instant.h"
#include "base/core/rng.h"
#include "domain/values/scenario.h"
#include "sim/world/fault_book.h"

namespace berth::live::testing {

/// Between 0 and `bound` - 1.
[[nodiscard]] std::int64_t drawn(Rng& rng, std::uint64_t bound);

/// A service without a name, for a fleet of that many A100-80GB.
[[nodiscard]] ServiceSpec random_service(Rng& rng, std::uint32_t gpu_count);
/// From second 5 on, the last one begins before `until_second`.
[[nodiscard]] std::vector<FrozenWindow> random_windows(Rng& rng, std::int64_t until_second);
/// A minute of the week that began not long ago or begins soon, or none.
[[nodiscard]] NoChanges random_no_changes(Rng& rng, Instant now);
/// Of any kind, about neighbours in a fleet of that many A100-80GB.
[[nodiscard]] sim::FaultOrder random_fault(Rng& rng, std::uint32_t gpu_count);

}  // namespace berth::live::testing
