/// What is left of a plan when the next one is made.
#pragma once

#include "window/problem.h"

namespace berth::planner {

/// A schedule without faults of `now` made of `last`, which was planned `slots_later` slots before: changes that should
/// have begun meanwhile begin at once, and those of a GPU that cannot be carried out any more are left out. Empty (not
/// even GPUs) where the fleets differ or nothing is left. O(GPUs that change x find_fault) at worst.
[[nodiscard]] Schedule carried_over(const Problem& now, const Schedule& last, int slots_later);

}  // namespace berth::planner
