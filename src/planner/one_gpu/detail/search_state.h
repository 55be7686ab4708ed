/// The state shared by the parts of the one-GPU search.
///
/// The order of calls (one_gpu_search.h drives them):
///   once         root label (Labels), offers of known schedules (LocalSearch)
///   each pass    `restart_pass`; then for each slot
///     select     bounds of the current labels (LabelBound); those that cannot matter are dropped (Dominance)
///     expand     per label: drafts of changes (DealsByPrices, DealsByStates, or the pool), bounded without places
///                (ChangeBound); each deal is placed (Arrangements), each placing becomes a label (Labels::change, then
///                add, or undo where it cannot matter), which arrives in the slot in which all of it is ready
///     hold       the labels wait for a slot
///   at the end   labels become schedules (Incumbent)
/// Bounds may change between passes, not within one: a label's bound is only ever lowered.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/incumbent.h"
#include "planner/one_gpu/detail/label_bound.h"
#include "planner/one_gpu/detail/labels.h"
#include "planner/one_gpu/detail/pass_budget.h"

namespace berth::planner {

struct SearchState {
  /// Keeps a reference to the case.
  explicit SearchState(const GpuCase& of)
      : gpu_case(of),
        arrangements(of),
        labels(of, arrangements),
        bound(of, labels),
        arrivals(ix(of.problem.slots) + 1) {}
  SearchState(const SearchState&) = delete;
  SearchState& operator=(const SearchState&) = delete;

  /// Keeps only the root, at the first slot in which a change may begin.
  void restart_pass(const PassLimits& limits);
  /// Labels and schedules with at most this worth do not matter.
  [[nodiscard]] double cutoff() const { return incumbent.cutoff(); }
  [[nodiscard]] int services() const { return static_cast<int>(gpu_case.bundles.size()); }
  /// Records a label at the end of the window as a schedule.
  void finish(const Label& label);

  const GpuCase& gpu_case;
  Arrangements arrangements;
  Labels labels;
  LabelBound bound;
  Incumbent incumbent;
  PassBudget budget;
  std::vector<std::vector<LabelIndex>> arrivals;  ///< [slot], slots + 1: labels whose changes are complete then
  std::vector<LabelIndex> arrived_now;            ///< labels that changed in this slot and are complete at once
};

inline void SearchState::restart_pass(const PassLimits& limits) {
  budget.begin(limits);
  labels.restart();
  for (std::vector<LabelIndex>& of_slot : arrivals) of_slot.clear();
  arrivals[gpu_case.first_slot].emplace_back(0);
}

inline void SearchState::finish(const Label& label) {
  const double value = label.value + labels.tail_of(label);
  if (value > incumbent.value()) incumbent.replace(value, labels.changes_of(label));
}

}  // namespace berth::planner
