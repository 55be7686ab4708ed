/// A plan that meets all floors, looked for by those who check plans: where one exists, no plan may leave a floor
/// unmet.
#pragma once

#include <span>

#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"

namespace berth {

/// Actions that may meet all floors; none where this finds no way. It shares no code with those who make plans, and is
/// far simpler: each GPU on which nothing is under way is filled anew, one after another, as long as a floor is unmet.
/// Pinned slices come first; then the service that is short of the largest share of its floor gets the smallest slice
/// that is enough for it, else the one that gives most for its room. Slices are counted at what their default point
/// gives, or less, where planners may have reasons to use a slower one. O(GPUs x slices of a GPU x services).
///
/// Only a proposal: the caller checks it like any other plan (find_objection, find_breach). That none is found proves
/// nothing.
[[nodiscard]] Plan propose_counter_plan(const Scenario& scenario, const Snapshot& snapshot,
                                        std::span<const PlannedFloor> floors);

/// Whether something that began before still occupies a GPU: a slice that leaves, or one that is not ready for those
/// who hold it.
[[nodiscard]] bool is_under_way(const StandingSlice& standing);

}  // namespace berth
