/// The remaining part of a plan when the next one is made.
#pragma once

#include "planner/window/problem.h"

namespace berth::planner {

/// A schedule of `now`, without faults, made from `last`, which was planned `slots_later` slots before. Overdue changes
/// begin at once; the changes of a GPU that can no longer be carried out are left out. Empty (without GPUs) if the
/// fleets differ or nothing is left. O(GPUs that change x find_fault) at worst.
[[nodiscard]] Schedule carried_over(const Problem& now, const Schedule& last, int slots_later);

}  // namespace berth::planner
