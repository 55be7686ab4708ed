/// Solves the window problem of one GPU: exactly, or with a proven gap.
///
/// Labels are (slot, configuration, progress of retrainings, budgets used). A label waits for a slot or changes; of two
/// labels with the same sites up to symmetry the better one is kept. A label is dropped if the bounds of
/// detail/joint_bound.h (all services together, without places) or detail/price_bound.h (each service alone, at prices;
/// if models become stale) prove that it cannot exceed the best known schedule by more than the allowed gap. Passes go
/// from narrow to wide; the bounds of labels that a pass leaves out are kept, so that the bound of the answer is always
/// proven, for schedules in which no change only moves slices and no model is retrained that is never stale: the search
/// does not consider others (docs/planner.md).
#pragma once

#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// The best schedule found and a proven bound; exact if the nodes suffice and the allowed gap is 0. A node is a label
/// in a slot or a change that was tried. `known`, if it names a GPU and has no fault, is the schedule to improve on.
/// Requires: one GPU.
[[nodiscard]] Answer solve_one_gpu(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
