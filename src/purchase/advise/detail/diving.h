/// A plan from the relaxation: boxes of its fractional optimum are bought one after the other.
#pragma once

#include <cstdint>

#include "purchase/advise/detail/node_watch.h"
#include "purchase/advise/detail/plan.h"
#include "purchase/advise/detail/relaxation.h"

namespace berth::purchase::advise {

struct DiveEffort {
  int rounds_per_step = 0;  ///< in which new contents are looked for
  std::int64_t nodes_max = 0;
  NodeWatch watch = {};
};

struct Dive {
  Plan plan;
  std::int64_t nodes = 0;
};

/// Buys the whole part of each count; if there is none, the column with the largest one. Then solves the relaxation
/// again for the pods that are left, with new contents for them, until all have a place. Once the nodes are used up or
/// the watch says so, columns are bought in the order of their counts, without new contents. `relaxation` keeps what it
/// learns. O(instances) linear programs at worst.
[[nodiscard]] Dive dive(const Problem& problem, Relaxation& relaxation, const DiveEffort& effort);

}  // namespace berth::purchase::advise
