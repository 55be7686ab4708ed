/// Limits of the searches for a window, in nodes rather than time: the same problem gives the same answer.
#pragma once

#include <cstdint>

namespace berth::planner {

struct SearchLimits {
  std::int64_t nodes_max = 1'000'000;  ///< may be exceeded for a large fleet (fleet.h)
  double gap = 0;                      ///< (bound - objective) / |bound| at which a search may stop
  /// On small fleets only GPU `turn` modulo their count gets a search of its own; -1: all GPUs do. Successive plans,
  /// each of which starts from the previous one, thus share the work.
  int turn = -1;

  /// Whether this GPU, of `gpus` in total, gets a search of its own.
  [[nodiscard]] bool is_turn_of(int gpu, int gpus) const { return turn < 0 || turn % gpus == gpu; }
};

}  // namespace berth::planner
