/// Solves the window problem of one GPU: exactly, or with a proven gap.
///
/// Labels are (slot, what stands, progress of retrainings, budgets used); a label holds on for a slot or changes, and
/// of two with the same sites up to symmetry the better one stays. A label that cannot pass the best known schedule by
/// the bounds of detail/joint_bound.h (all services together, without places) and detail/price_bound.h (each service
/// alone, at prices; where models become stale) is dropped, also one that cannot pass it by more than the gap that is
/// good enough. Passes go from narrow to wide; what a pass leaves out is remembered by its bound, so that the bound of
/// the answer is always proven.
#pragma once

#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// The best schedule found and a proven bound; exact where the nodes suffice and gap is 0. A node is a label in a slot
/// or a change that was tried. `known`, where it names a GPU and has no fault, is what others have to be better
/// than. Requires: one GPU.
[[nodiscard]] Answer solve_one_gpu(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
