/// The plan with the fewest changes within a budget, and a bound: starting plans, an exact search within its budget,
/// and a local search that replans a few GPUs at a time.
#pragma once

#include <cstdint>

#include "planner/transition/detail/start.h"
#include "planner/transition/detail/view.h"

namespace berth::transition::detail {

struct Improved {
  SlicesByGpu plan;
  std::int64_t bound = 0;  ///< on changes
  std::int64_t nodes = 0;
};

/// Requires: `fewest` serves the problem's demands within the view's budget.
[[nodiscard]] Improved fewest_changes_plan(const TransitionView& view, const PackingProblem& problem,
                                           const Packing& fewest, const Packer& pack, std::int64_t nodes_max);

}  // namespace berth::transition::detail
