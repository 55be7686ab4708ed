/// The one door to the solvers: exact on one GPU, by prices and best responses on several.
#pragma once

#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// The search begins with `known`, where it names GPUs; a better answer comes of a good one. Requires: it has no fault.
[[nodiscard]] Answer solve(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
