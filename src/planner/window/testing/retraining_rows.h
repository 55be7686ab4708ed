/// The retraining of one service as columns and rows: its progress slot by slot, when its model is fresh, and the worth
/// of freshness or progress at the end of the window.
#pragma once

#include <vector>

#include "planner/window/testing/gpu_columns.h"

namespace berth::planner::testing {

/// Whether the model of a service is fresh: sums that are 0 or 1, constant where it is known in advance.
struct FreshSums {
  std::vector<LinearSum> by_slot;  ///< `accuracy_after` is in force
  LinearSum in_tail;               ///< the tail begins fresh or done
};

/// Adds the columns and rows; none for a service without retraining, which is always fresh. `gpus` are the columns of
/// all GPUs.
[[nodiscard]] FreshSums add_retraining(const Problem& problem, const std::vector<GpuColumns>& gpus,
                                       ServiceIndex service, ProgramBuilder& program);

/// Whether some variant is less accurate after a retraining: freshness must then be forced.
[[nodiscard]] bool is_worse_fresh(const ServiceTerms& service);

}  // namespace berth::planner::testing
