/// Leaves out of a schedule what hardly pays: forecasts err, and a change that gains next to nothing is a risk.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace berth::planner {

/// Slices that a change creates or destroys: sites that only one of both holds.
[[nodiscard]] int slices_changed(const Configuration& from, const Configuration& to);

struct Pruned {
  Answer answer;
  /// [gpu]: what its changes gain beside those of all others, of GPUs whose first change begins in slot 0; else 0.
  std::vector<double> gains;
};

/// The answer in which each GPU whose first change begins in slot 0 gains at least `least_per_slice` (in the
/// objective's unit) for each slice that this change creates or destroys, one at least; the others stay as they are,
/// the least worthy one first. What floors, budgets or a retraining need stays. The bound is as before.
/// Requires: a schedule without faults. O(GPUs that change x services x slots x samples) for each round of leaving out.
[[nodiscard]] Pruned without_what_hardly_pays(const Problem& problem, Answer answer, double least_per_slice);

}  // namespace berth::planner
