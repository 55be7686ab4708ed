/// Solves the window problem for fleets of GPUs: a good schedule, and a bound that no schedule can exceed.
///
/// Schedules: each GPU in turn changes to its best response to the schedules of all others, until none gains
/// (detail/response.h). Bound: prices for capacity, progress and floors in ranges of slots decompose the problem into
/// services and GPUs (detail/bound.h).
#pragma once

#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// find_fault finds nothing in the schedule, except unmet floors if `misses_floors`: then the relative shortfall,
/// summed over services and slots, is the smallest that the search found. Infeasibility is reported only if the bound
/// proves it. A node is one response of a GPU; with more than 16 GPUs each has three for each group of services that
/// may share a GPU, even if `nodes_max` is smaller. The search begins with `known`, if it names GPUs. Requires: `known`
/// has no fault; the requirements of problem.h and one_gpu.h.
[[nodiscard]] Answer solve_fleet(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
