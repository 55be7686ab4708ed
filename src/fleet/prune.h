/// Leaves out of a schedule what does not pay beside the rest.
#pragma once

#include <vector>

#include "window/problem.h"

namespace berth::planner {

struct Pruned {
  Answer answer;
  /// [gpu]: what its changes gain beside those of all others, net of change_price, of GPUs whose first change begins in
  /// slot 0; else 0.
  std::vector<double> gains;
};

/// The answer in which the changes of each GPU whose first one begins in slot 0 gain something; the others stay as they
/// are, the least worthy one first. What floors, budgets or a retraining need stays. The bound is as before.
/// Requires: a schedule without faults. O(GPUs that change x services x slots x samples) for each round of leaving out.
[[nodiscard]] Pruned without_what_does_not_pay(const Problem& problem, Answer answer);

}  // namespace berth::planner
