/// How long the searches for a window may go on. Counted in nodes, not in time: the same problem, the same answer.
#pragma once

#include <cstdint>

namespace berth::planner {

struct SearchLimits {
  std::int64_t nodes_max = 1'000'000;  ///< of a large fleet: more where its GPUs are many (fleet.h)
  double gap = 0;                      ///< good enough
  /// On small fleets, what is tried of one GPU by itself is tried of GPU `turn` modulo their count alone; -1: of all.
  /// Plans that begin with what is left of the last one thus share the work.
  int turn = -1;

  [[nodiscard]] bool is_turn_of(int gpu, int gpus) const { return turn < 0 || turn % gpus == gpu; }
};

}  // namespace berth::planner
