/// Label search for the window problem of one GPU; one_gpu.h describes the sequence of passes, search_state.h the parts
/// of a pass.
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

  /// The holdings of the services at the first slot in which a change may begin.
  [[nodiscard]] std::vector<ServiceStart> starts() const;

  void set_pool(std::vector<std::vector<Share>> pool) { expansion_.set_pool(std::move(pool)); }
  /// The bound of the rest of a schedule, set before the first pass: prices, all services together, or the lesser of
  /// the two. See `Bounding` for the legal order.
  void set_bound(const PriceBound& bound) { state_.bound.use(bound); }
  void set_bound(JointBound& bound) { state_.bound.use(bound); }
  /// No search is allowed until a bound is set again.
  void forget_bounds() { state_.bound.forget(); }
  /// Searches only for schedules that are better than the best known one by this share.
  void set_gap(double gap) { state_.incumbent.set_gap(gap); }

  /// Searches for a schedule that is worth more than the best known one. Requires: some bound.
  void pass(const PassLimits& limits);
  /// Follows one path through the window, guided by the joint bound. Requires: only the joint bound is in use.
  void dive(double patience, const PassLimits& limits);
  /// Makes a known schedule the best one if it is worth more. Returns whether it did. Requires: it keeps all rules.
  bool offer(const std::vector<Change>& changes) { return local_search_.offer(changes); }
  /// Moves the changes of the best schedule in time, and removes some, while that gains.
  void polish() { local_search_.improve(); }

  [[nodiscard]] bool has_schedule() const { return state_.incumbent.has_schedule(); }
  [[nodiscard]] double best_value() const { return state_.incumbent.value(); }
  [[nodiscard]] const std::vector<Change>& best_changes() const { return state_.incumbent.changes(); }
  /// Value of the slots before the first one in which a change may begin; kNever if the standing pieces may not stay
  /// that long.
  [[nodiscard]] double value_before() const { return state_.labels.root().value; }
  /// An upper bound on everything that the last pass left out.
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
