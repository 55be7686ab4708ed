/// The stage that removes slices that services may no longer have since their specs were set at run time.
#pragma once

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// How long a slice that can no longer serve its service is kept, so that the planner, which counts its capacity as 0,
/// replaces it first.
inline constexpr Micros kUselessAtMost{60'000'000};

/// A plan of the planner guarantees correctness only for the GPUs that it changes, and it has no reason to change a GPU
/// because of a slice that no other service wants. So once the first layout is in place, and for services that were set
/// since, this stage destroys
///
/// - slices of a GPU model that the service's TierRule no longer allows, and
///   inference slices on which no plan could let the service serve (planner::can_serve): at once if that holds for
///   every slice of the fleet, else once the spec is `kUselessAtMost` old (60 s);
/// - slices on a GPU shared against isolation or trust domains: those of the service whose spec was set last, at once.
///
/// Pinned slices stay. Of a slice shared with other services only the service's holding ends. Waits while a window is
/// frozen. Its plans are ordered (Plan::is_ordered). `scenario` must outlive the stage. A step costs O(slices), and
/// nothing while neither the layout nor the specs change.
[[nodiscard]] Stage evict_stage(const Scenario& scenario);

}  // namespace berth
