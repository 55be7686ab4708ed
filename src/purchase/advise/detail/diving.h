/// A plan from the relaxation: buys boxes of its fractional optimum one after the other.
#pragma once

#include <cstdint>

#include "purchase/advise/detail/node_watch.h"
#include "purchase/advise/detail/plan.h"
#include "purchase/advise/detail/relaxation.h"

namespace berth::purchase::advise {

struct DiveEffort {
  int rounds_per_step = 0;  ///< in which new contents are searched for
  std::int64_t nodes_max = 0;
  NodeWatch watch = {};
};

struct Dive {
  Plan plan;
  std::int64_t nodes = 0;
};

/// Buys the integer part of each count; if all are 0, one of the column with the largest count. Then solves the
/// relaxation again for the remaining pods, with new contents for them, until all are placed. Once the nodes are used
/// up or the watch returns false, columns are bought in the order of their counts, without new contents. `relaxation`
/// keeps the columns found. O(instances) linear programs at worst.
[[nodiscard]] Dive dive(const Problem& problem, Relaxation& relaxation, const DiveEffort& effort);

}  // namespace berth::purchase::advise
