/// The stage of policies that give each service its own whole GPUs, in numbers that change over time.
#pragma once

#include <cstdint>
#include <functional>

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth::elastic {

/// The number of whole GPUs that a service should have in a second of the run, at least 0.
using WholeGpuCounts = std::function<std::int64_t(ServiceId, std::int64_t second)>;

/// The GPUs that exist at second 0: those wanted then, in the order of the services.
[[nodiscard]] std::int64_t gpus_at_start(const Scenario& scenario, const WholeGpuCounts& counts);

/// Orders GPUs, makes each a slice for its service when it arrives, and releases them: first those that have not
/// arrived, the newest first, then those that serve. GPUs to order are taken in ascending order; if too few are left,
/// services get none. In a constant fleet the counts must be constant, too. `scenario` must outlive the stage.
/// Requires: the fleet has one GPU model, and `full` is one of its slices.
[[nodiscard]] Stage whole_gpus_stage(const Scenario& scenario, WholeGpuCounts counts);

}  // namespace berth::elastic
