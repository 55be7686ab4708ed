/// The one door to the solvers: exact on one GPU, by prices and best responses on several.
#pragma once

#include "planner/limits.h"
#include "planner/problem.h"

namespace berth::planner {

[[nodiscard]] Answer solve(const Problem& problem, const SearchLimits& limits);

}  // namespace berth::planner
