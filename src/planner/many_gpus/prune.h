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

/// When a change that begins in slot 0 is worth beginning.
struct Postponement {
  int wait_slots = 0;   ///< until the next plan can begin it; > 0
  double loss_min = 0;  ///< of the objective, by waiting: with a smaller loss it waits; >= 0
};

/// The answer in which the changes of a GPU whose first one begins in slot 0 begin `wait_slots` later, if that loses
/// less than `loss_min` given the changes of all others. Forecasts err: what need not begin now is decided by the next
/// plan, which knows more, and often not needed then. The answer as it was if the later changes would break a rule
/// (a frozen slot, a floor). Requires: an answer of without_low_value_changes. O(GPUs that change x services x slots x
/// samples).
[[nodiscard]] Pruned with_changes_postponed(const Problem& problem, Pruned pruned, const Postponement& postponement);

}  // namespace berth::planner
