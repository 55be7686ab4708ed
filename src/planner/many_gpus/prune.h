/// Removes from a schedule the changes that gain nothing, given all others.
#pragma once

#include <vector>

#include "planner/window/problem.h"

namespace berth::planner {

struct Pruned {
  Answer answer;
  /// [gpu]: the gain of its changes given those of all others, net of change_price, if the first one begins in slot 0;
  /// else 0.
  std::vector<double> gains;
};

/// The answer without the changes of GPUs that gain nothing, among the GPUs whose first change begins in slot 0; those
/// that gain least are removed first. Changes that floors, budgets or a retraining need are kept, and so is the bound.
/// Requires: a schedule without faults. O(GPUs that change x services x slots x samples) per round.
[[nodiscard]] Pruned without_low_value_changes(const Problem& problem, Answer answer);

}  // namespace berth::planner
