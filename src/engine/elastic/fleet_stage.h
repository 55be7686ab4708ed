/// The stage that orders GPUs and gives them back, as many as its services will want.
#pragma once

#include <cstdint>

#include "base/core/decimal.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth::elastic {

/// Whether GPUs can be counted: the fleet has one model.
[[nodiscard]] bool has_one_model(const Scenario& scenario);

/// From the order of a GPU until a slice that is created there serves, for the slowest service: whole seconds, rounded
/// up. Requires: provision_seconds.
[[nodiscard]] std::int64_t ready_seconds(const Scenario& scenario);

/// More GPUs are ordered as soon as they are wanted (gpu_demand.h). Fewer are kept once fewer were wanted for 30 s.
/// Given back are those on their way, the newest first, then those whose slices with holders have the fewest SMs. Its
/// plans are ordered (Plan::is_ordered); who plans slices comes behind it, and a drain stage. `gpus_at_start` are there
/// at second 0. `scenario` must outlive the stage. Requires: provision_seconds, one GPU model.
[[nodiscard]] Stage fleet_stage(const Scenario& scenario, const Decimal& attainment, std::int64_t gpus_at_start);

}  // namespace berth::elastic
