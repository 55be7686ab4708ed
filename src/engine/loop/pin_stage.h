/// The stage that makes the pinned slices of services that were added, or whose pins changed, at run time.
#pragma once

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// The first layout holds all pins; a later plan of the planner keeps the pins of the GPUs that it changes, but changes
/// no GPU for the sake of a pin. So once the first layout is in place this stage makes each pinned slice that its owner
/// does not hold alone: conflicting slices on that GPU are destroyed (those that overlap it, and those of services that
/// may not share the GPU with the owner; never a pinned or foreign slice), the slice is created and given to its owner,
/// which serves there, or retrains if it can only do that. The owner's use of the slice follows its spec: a slice that
/// is held, but whose point no longer keeps the target, gets another.
///
/// Waits while the GPU is not open or has pinned or foreign slices in the way, while a window is frozen, and after
/// failed creations (engine/loop/restore_stage.h). Its plans are ordered (Plan::is_ordered). `scenario` must outlive
/// the stage. A step costs O(services + pins x log slices).
[[nodiscard]] Stage pin_stage(const Scenario& scenario);

}  // namespace berth
