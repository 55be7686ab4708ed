/// One GPU of a fleet as a problem of its own: the others, with their schedules, are outside.
#pragma once

#include "planner/window/problem.h"

namespace berth::planner {

/// The problem of one GPU. Its objective differs from that of the fleet by a constant, so a better schedule of the part
/// gives a better one of the fleet. A service that retrains elsewhere at any time cannot retrain here; budgets are
/// reduced by the others' changes; floors count the others' least planned rates. O(slots x pieces).
[[nodiscard]] Problem part_of(const Problem& problem, const Schedule& schedule, GpuIndex gpu);

}  // namespace berth::planner
