/// The stage that maintains the scenario's layout: missing slices are created and given to their services again.
#pragma once

#include <cstddef>

#include "base/core/instant.h"
#include "domain/values/gpu_state.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// The approximate maximum of actions in a plan of the stage; the rest follows in later plans.
inline constexpr std::size_t kRestoredActionsMax = 2000;

/// How long nothing is tried on a GPU after failed actions: 1 s, 2 s, 4 s .. 60 s. 0 without failures.
[[nodiscard]] Micros wait_after(const ActionFailures& failures);

/// Compares `scenario.layout` with the existing slices, GPU by GPU, once the first layout is in place. On GPUs that are
/// open
///   - a missing slice is created and given to its service, if no existing or leaving slice is in its way;
///   - an existing slice that is ours and unowned is given to its service.
/// Nothing is destroyed, and nothing is taken from a holder. Services are found by tenant and name, whatever their
/// current ServiceId; slices of an absent service are not planned. Waits while a window is frozen, while earlier stages
/// have actions, and after failed actions (wait_after).
///
/// `scenario`, which has a layout, must outlive the stage; its services may change, its layout does not. Cost: O(1) for
/// a step without changes; else O(GPUs) integer comparisons, and O(log slices + slices of the GPU) for each GPU that
/// changed or waits.
[[nodiscard]] Stage restore_stage(const Scenario& scenario);

}  // namespace berth
