/// The stage that takes slices away which services may no longer have since their specs were set at run time.
#pragma once

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// How long a slice that cannot serve its service any more goes on, so that the planner replaces it first: it counts on
/// such slices for nothing.
inline constexpr Micros kUselessAtMost{60'000'000};

/// A plan of the planner leaves only the GPUs correct that it changes, and it has no reason to change a GPU for a slice
/// that nobody else wants. So once the first layout is in place, and for services that were set since, this stage
/// destroys
///
/// - inference slices on which no plan could let the service serve (planner::can_serve): at once if that holds for
///   every slice of the fleet, else once the spec is `kUselessAtMost` old;
/// - slices on a GPU with others where isolation or trust domains forbid it: those of the service whose spec was set
///   last, at once.
///
/// Pinned slices stay, and of a slice that others share only the holding ends. Waits while a window is frozen. Its
/// plans are ordered (Plan::is_ordered). `scenario` must outlive the stage. A step costs O(slices), and nothing while
/// neither the layout nor the specs change.
[[nodiscard]] Stage evict_stage(const Scenario& scenario);

}  // namespace berth
