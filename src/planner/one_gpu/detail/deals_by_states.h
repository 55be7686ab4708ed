/// The deals of one label in one slot by the states of the joint bound, each with an upper bound of its worth.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/joint_states.h"

namespace berth::planner {

struct Branch;
class ChangeBound;
class Draft;
struct SearchState;

class DealsByStates {
 public:
  /// Keeps references.
  DealsByStates(SearchState& state, ChangeBound& change_bound) : state_(state), change_bound_(change_bound) {}

  /// Adds the deals of the best states that a change may lead to; records in the budget the bound of those left out.
  /// Requires: only a joint bound.
  void add_to(Draft& draft, const Branch& branch);

 private:
  void choose(Draft& draft, const Branch& branch, StateIndex to, ServiceIndex service);
  void close(Draft& draft, const Branch& branch);

  SearchState& state_;
  ChangeBound& change_bound_;
  std::vector<Share> shares_;  ///< chosen so far
};

}  // namespace berth::planner
