/// The stage that orders GPUs and gives them back, to match what its services will need.
#pragma once

#include <cstdint>

#include "base/core/decimal.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth::elastic {

/// Whether GPUs can be counted: the fleet has one model.
[[nodiscard]] bool has_one_model(const Scenario& scenario);

/// Seconds from the order of a GPU until a slice created there serves, for the slowest service; rounded up. Requires:
/// provision_seconds.
[[nodiscard]] std::int64_t ready_seconds(const Scenario& scenario);

/// GPUs are ordered as soon as they are wanted (gpu_demand.h), and given back once fewer were wanted for 30 s: first
/// GPUs that have not arrived, the newest order first, then those whose held slices have the fewest SMs. Its plans are
/// ordered (Plan::is_ordered). The stages that plan slices, and a drain stage, must come after it. `gpus_at_start` GPUs
/// exist at second 0. `scenario` must outlive the stage. Requires: provision_seconds, one GPU model.
[[nodiscard]] Stage fleet_stage(const Scenario& scenario, const Decimal& attainment, std::int64_t gpus_at_start);

}  // namespace berth::elastic
