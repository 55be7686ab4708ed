/// A proof that floors cannot all be met, by the maximum rates of all GPUs.
#pragma once

#include "planner/window/problem.h"

namespace berth::planner {

/// Whether it is proven that no schedule of the problem meets all floors.
///
/// Model: weights y >= 0 of the services. A GPU holds pieces that do not clash, its pins, and no services that must not
/// share a GPU. Let m(g) be the largest sum of y x rate over the configurations of GPU g, its standing one included (a
/// GPU that does not change breaks no rule). If the sum of m over the GPUs is less than the sum of y x floor, some
/// floor is unmet in each slot. This is the dual of a linear relaxation; it is tried with each service alone, then with
/// weights that grow for services whose floors the best configurations do not meet (multiplicative weights). Budgets
/// and time are ignored. False proves nothing. O(rounds x kinds of GPUs x states of a GPU).
[[nodiscard]] bool is_floor_shortage_proven(const Problem& problem);

}  // namespace berth::planner
