/// The stage of policies that give each service whole GPUs of its own, more or fewer of them over time.
#pragma once

#include <cstdint>
#include <functional>

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth::elastic {

/// How many whole GPUs a service is to have in a second of the run, 0 or more.
using WholeGpuCounts = std::function<std::int64_t(ServiceId, std::int64_t second)>;

/// GPUs that are there at second 0: those wanted then, in the order of the services.
[[nodiscard]] std::int64_t gpus_at_start(const Scenario& scenario, const WholeGpuCounts& counts);

/// Orders GPUs, makes each a slice for its service when it is there, and releases them: those on their way first, the
/// newest first, then those that serve. GPUs that are not there are taken by their numbers; where too few are left,
/// services go without. In a fleet that is constant the counts must be, too. `scenario` must outlive the stage.
/// Requires: the fleet has one GPU model, and `full` is one of its slices.
[[nodiscard]] Stage whole_gpus_stage(const Scenario& scenario, WholeGpuCounts counts);

}  // namespace berth::elastic
