/// How long the searches of this folder may go on. Counted in nodes, not in time: the same problem, the same answer.
#pragma once

#include <cstdint>

namespace berth::planner {

struct SearchLimits {
  std::int64_t nodes_max = 1'000'000;
  double gap = 0;  ///< good enough
};

}  // namespace berth::planner
