/// The goodput that no policy can exceed in the simulated world (docs/explanation/bound.md).
#pragma once

#include <cstdint>
#include <functional>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "planner/goodput_bound/goodput_bound.h"

namespace berth::study {

/// The bound of a scenario with the arrivals of a seed. It depends on no policy. `progress` may be empty; it gets the
/// share done (0 to 1) and returns false to stop. Error only if stopped.
[[nodiscard]] Result<bound::Bound> replay_bound(const Scenario& scenario, std::uint64_t seed,
                                                const std::function<bool(double done)>& progress);

}  // namespace berth::study
