/// The checkers' own search for a plan that meets all floors: if one exists, no plan may leave a floor unmet.
#pragma once

#include <span>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"

namespace berth {

/// Actions that may meet all floors; none if the search fails. It shares no code with the planners and is far simpler:
/// each GPU without a change under way is refilled from empty, one after another, while a floor is unmet. Pinned slices
/// come first; then the service that is short of the largest share of its floor gets the smallest slice that is enough
/// for it, or, if none is, the slice with the highest rate per unit of space. Slices are counted at the rate of their
/// default point, or at a lower one where planners may have reasons to use a slower point. O(GPUs x slices of a GPU x
/// services).
///
/// Only a proposal: the caller checks it like any other plan (find_objection, find_breach). Finding none proves
/// nothing.
[[nodiscard]] Plan propose_counter_plan(const Scenario& scenario, const Snapshot& snapshot,
                                        std::span<const PlannedFloor> floors);

/// Whether a change that began earlier still occupies a GPU: the slice is leaving, or it is not ready for its holders.
[[nodiscard]] bool is_under_way(const StandingSlice& standing);

}  // namespace berth
