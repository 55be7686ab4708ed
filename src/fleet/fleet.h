/// Solves the window problem for fleets of GPUs: a very good schedule, and a bound that no schedule passes.
///
/// Schedules: each GPU in turn changes to its best answer to what all others do, until none gains
/// (detail/response.h). Bound: prices for capacity, progress and floors in stretches of time make the problem
/// fall apart into services and GPUs (detail/bound.h).
#pragma once

#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// The schedule has no fault that find_fault knows, except floors where `misses_floors` says so: then the relative
/// shortfall, summed over services and slots, is as small as the search could make it. Infeasible is said only where
/// the bound proves it. A node is one GPU's answer; of more than 16 GPUs each has three for each group of services that
/// may share a GPU, also where `nodes_max` is less. The search begins with `known`, where it names GPUs. Requires:
/// `known` has no fault; what the headers of problem.h and one_gpu.h require.
[[nodiscard]] Answer solve_fleet(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
