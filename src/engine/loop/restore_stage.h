/// The stage that keeps the layout of the scenario: what is missing of it is created, and given to its services again.
#pragma once

#include <cstddef>

#include "base/core/instant.h"
#include "domain/values/gpu_state.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// A plan of the stage has about so many actions at most; the rest is for the plans that follow.
inline constexpr std::size_t kRestoredActionsMax = 2000;

/// How long nothing is tried on a GPU after actions failed there: 1 s, 2 s, 4 s .. 60 s. None failed: 0.
[[nodiscard]] Micros wait_after(const ActionFailures& failures);

/// Compares `scenario.layout` with what stands, GPU by GPU, once the first layout is in place. On GPUs that are open
///   - a slice that is missing is created, and given to its service, if its room is free of slices that stand or leave;
///   - a slice that stands at its place, and is ours and unowned, is given to its service.
/// Nothing is destroyed, and nothing is taken from a holder. Services are found by tenant and name, wherever their
/// place is now; slices of a service that is absent are not planned. Waits while a window is frozen, while earlier
/// stages have actions, and after actions that failed (wait_after).
///
/// `scenario`, which has a layout, must outlive the stage; its services may change, its layout does not. Costs: a step
/// without news O(1); else O(GPUs) comparisons of numbers, and O(log slices + slices of the GPU) for each GPU that
/// changed or waits.
[[nodiscard]] Stage restore_stage(const Scenario& scenario);

}  // namespace berth
