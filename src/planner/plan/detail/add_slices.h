/// Slices for services whose floor is a number of slices, where a schedule leaves room for them.
#pragma once

#include "planner/window/problem.h"

namespace berth::planner {

/// The schedule with a slice more for each service that counts_slices and is short, as far as one fits beside what is
/// there: such a service may have no load, so that a search by gain has no reason to make its slice. Kinds with the
/// fewest SMs first, then GPUs and sites in order. A GPU without changes gets one at its first free slot; elsewhere the
/// slice begins with the first change. Adds only what keeps all rules but other services' floors. At most kTriesMax
/// tries, each O(slots x pieces).
[[nodiscard]] Schedule with_missing_slices(const Problem& problem, const Schedule& schedule);

inline constexpr int kTriesMax = 500;

/// The problem with the floors of no service.
[[nodiscard]] Problem without_floors(Problem problem);

}  // namespace berth::planner
