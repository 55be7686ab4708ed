/// The stage that makes the pinned slices of services that came, or whose pins changed, while the engine ran.
#pragma once

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// The first layout holds all pins; a later plan of the planner keeps the pins of the GPUs that it changes, but changes
/// none for a pin's sake. So once the first layout is in place this stage makes each pinned slice that its owner does
/// not hold alone: what is in its way on that GPU is destroyed (slices that overlap it, and those of services that may
/// not share the GPU with the owner; never a slice that is pinned itself, or that others made), the slice is created,
/// and given to its owner, which serves there, or retrains if it can only do that. The owner's use of the slice follows
/// its spec: a slice that is held, but whose point no longer keeps the target, gets another.
///
/// Waits while the GPU is not open or has such slices in the way, while a window is frozen, and after creations that
/// failed (engine/loop/restore_stage.h). Its plans are ordered (Plan::is_ordered). `scenario` must outlive the stage. A
/// step costs O(services + pins x log slices).
[[nodiscard]] Stage pin_stage(const Scenario& scenario);

}  // namespace berth
