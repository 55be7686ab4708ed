/// Solves the window problem of one GPU: exactly, or with a proven gap.
///
/// Labels are (slot, configuration, progress of retrainings, budgets used). A label waits for a slot or changes; of two
/// labels with the same sites up to symmetry the better one is kept. A label is dropped if the bounds of
/// detail/joint_bound.h (all services together, without places) or detail/price_bound.h (each service alone, at prices;
/// if models become stale) prove that it cannot exceed the best known schedule by more than the allowed gap. Passes go
/// from narrow to wide; the bounds of everything that a pass leaves out are kept, so the bound of the answer is always
/// proven.
///
/// The search begins no retraining whose progress can no longer count because the model is fresh or done and not due
/// again. A schedule with such a retraining can be worth more (its slice need not be created when it begins to serve),
/// but no operator would want it; the bound does not cover it.
#pragma once

#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The best schedule found and a proven bound; exact if the nodes suffice and the allowed gap is 0. A node is a label
/// in a slot, or a change tried. `known`, if it names a GPU and has no fault, is the schedule to improve on. Requires:
/// one GPU.
[[nodiscard]] Answer solve_one_gpu(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
