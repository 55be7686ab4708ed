/// Label search for the window problem of one GPU; one_gpu.h says how the passes fit together, search_state.h what the
/// parts of a pass do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/one_gpu/detail/dominance.h"
#include "planner/one_gpu/detail/expansion.h"
#include "planner/one_gpu/detail/local_search.h"
#include "planner/one_gpu/detail/price_bound.h"
#include "planner/one_gpu/detail/search_state.h"

namespace berth::planner {

class OneGpuSearch {
 public:
  /// Keeps a reference to the case.
  explicit OneGpuSearch(const GpuCase& gpu_case);

  /// What the services have at the first slot in which something may change.
  [[nodiscard]] std::vector<ServiceStart> starts() const;

  void set_pool(std::vector<std::vector<Share>> pool) { expansion_.set_pool(std::move(pool)); }
  /// The bound of the rest of a schedule, set before the first pass: prices, all services together, or the lesser of
  /// the two. See `Bounding` for the legal order.
  void set_bound(const PriceBound& bound) { state_.bound.use(bound); }
  void set_bound(JointBound& bound) { state_.bound.use(bound); }
  /// No search is allowed after it.
  void forget_bounds() { state_.bound.forget(); }
  /// Only schedules worth more than the best known one by this share are searched.
  void set_gap(double gap) { state_.incumbent.set_gap(gap); }

  /// Searches for a schedule that is worth more than the best known one. Requires: some bound.
  void pass(const PassLimits& limits);
  /// One path through the window guided by the joint bound. Requires: it alone bounds the search.
  void dive(double patience, const PassLimits& limits);
  /// A schedule from elsewhere: becomes the best one if it is worth more. Requires: it keeps all rules.
  bool offer(const std::vector<Change>& changes) { return local_search_.offer(changes); }
  /// Moves the changes of the best schedule in time, and leaves out some, as long as that gains.
  void polish() { local_search_.improve(); }

  [[nodiscard]] bool has_schedule() const { return state_.incumbent.has_schedule(); }
  [[nodiscard]] double best_value() const { return state_.incumbent.value(); }
  [[nodiscard]] const std::vector<Change>& best_changes() const { return state_.incumbent.changes(); }
  /// Value of the slots before the first in which something may change; kNever if the standing pieces may not stay that
  /// long.
  [[nodiscard]] double value_before() const { return state_.labels.root().value; }
  /// Of the last pass: an upper bound on what it left out.
  [[nodiscard]] double left_out() const { return std::max(state_.budget.left_out(), state_.cutoff()); }
  [[nodiscard]] std::int64_t nodes() const { return state_.budget.nodes(); }

 private:
  void start(const PassLimits& limits);
  [[nodiscard]] bool begins_changes(SlotIndex t) const;
  void select(std::vector<LabelIndex>& labels, SlotIndex t);
  void drop_covered(std::vector<LabelIndex>& labels, SlotIndex t) const;
  void keep_most_promising(std::vector<LabelIndex>& labels, SlotIndex t);
  void hold(std::vector<LabelIndex>& labels, SlotIndex t);
  [[nodiscard]] LabelIndex best_child(LabelIndex label, SlotIndex t, double patience);
  [[nodiscard]] LabelIndex most_worth_staying(LabelIndex first, double least) const;

  SearchState state_;
  Dominance dominance_;
  Expansion expansion_;
  LocalSearch local_search_;
};

}  // namespace berth::planner
