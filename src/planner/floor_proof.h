/// A proof that floors cannot all be met, by what all GPUs can give at most.
#pragma once

#include "window/problem.h"

namespace berth::planner {

/// Whether it is proven that no schedule of the problem meets all floors.
///
/// Model: weights y >= 0 of the services. A GPU holds pieces that do not clash; its pins stand, and services that must
/// not share a GPU do not. Let m(g) be the largest sum of y x rate over what GPU g may hold, what stands there included
/// (a GPU that does not change breaks no rule). Where the sum of m over the GPUs is less than the sum of y x floor,
/// some floor is unmet in each slot. This is the dual of a linear relaxation, so it is tried with each service alone,
/// and then with weights that grow where the best holdings give too little (multiplicative weights). Budgets and time
/// are left out. False says nothing. O(rounds x kinds of GPUs x states of a GPU).
[[nodiscard]] bool is_floor_shortage_proven(const Problem& problem);

}  // namespace berth::planner
