/// Known schedules as starting points, and better ones near the best known.
#pragma once

#include <vector>

#include "planner/window/problem.h"

namespace berth::planner {

struct SearchState;

class LocalSearch {
 public:
  /// Keeps a reference.
  explicit LocalSearch(SearchState& state) : state_(state) {}

  /// Makes a schedule the best one if it is worth more. Returns whether it did. Costs a node. Requires: its
  /// configurations may begin.
  bool offer(const std::vector<Change>& changes);
  /// Moves the changes of the best schedule in time, and removes some, while that gains.
  void improve();

 private:
  [[nodiscard]] double value_of(const std::vector<Change>& changes);
  [[nodiscard]] double value_after_root(const std::vector<Change>& changes);
  [[nodiscard]] bool improve_change(std::size_t number);

  SearchState& state_;
};

}  // namespace berth::planner
