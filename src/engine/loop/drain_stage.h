/// The stage that empties GPUs that an operator drains.
#pragma once

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// How long a drain waits for other slices of its services.
inline constexpr Micros kDrainWaitMax = Micros::seconds(60);

/// Destroys the slices of draining GPUs. The planner, which no longer counts on them, comes first: a drain waits until
/// a plan was made after it began (`has_planner`) and until no other slice of the affected services is still being
/// created, at most kDrainWaitMax in all. Where a service with a program would be left without any slice that serves,
/// that plan must also be younger than the latest failed action and the latest change of the GPUs that may be used.
/// After failed actions on a GPU it waits (wait_after) before it retries. Waits while a window is frozen. Its plans are
/// ordered (Plan::is_ordered). `scenario` must outlive the stage.
[[nodiscard]] Stage drain_stage(const Scenario& scenario, bool has_planner);

}  // namespace berth
