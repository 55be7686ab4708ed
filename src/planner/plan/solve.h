/// The entry point of the solvers: exact on one GPU, by prices and best responses on several.
#pragma once

#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The search begins with `known`, if it names GPUs; a good start improves the answer. Requires: `known` has no fault.
[[nodiscard]] Answer solve(const Problem& problem, const SearchLimits& limits, const Schedule& known = {});

}  // namespace berth::planner
