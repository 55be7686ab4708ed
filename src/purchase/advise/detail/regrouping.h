/// Local search: the pods of a few instances are divided anew, as cheaply as possible.
#pragma once

#include <cstdint>

#include "base/core/rng.h"
#include "purchase/advise/detail/node_watch.h"
#include "purchase/advise/detail/plan.h"

namespace berth::purchase::advise {

struct RegroupEffort {
  std::int64_t nodes_max = 0;
  std::int64_t idle_rounds_max = 0;
  NodeWatch watch = {};
};

struct Regrouped {
  Plan plan;
  std::int64_t nodes = 0;  ///< sets of pods looked at
};

/// Takes a few instances at random, again and again. Their pods are at most kPiecesMax pieces (where they are more,
/// some stay together as one piece), and an exact dynamic program over the sets of pieces finds the cheapest way to
/// divide them among instances. It is taken if it costs no more: ties move the search on. Ends after `nodes_max` sets,
/// after `idle_rounds_max` rounds without saving anything, or where the watch says so. O(3^kPiecesMax) a round.
[[nodiscard]] Regrouped regroup(const Problem& problem, Plan plan, const RegroupEffort& effort, Rng rng);

inline constexpr std::size_t kPiecesMax = 11;

/// `is_proven`: no plan is cheaper. That fails only where a search for shares was ended by its limit.
struct CheapestPlan {
  Plan plan;
  bool is_proven = false;
  std::int64_t nodes = 0;
};

/// The cheapest plan of all, by that dynamic program over sets of pods. Requires: at most kExactPodsMax pods, each of
/// which fits a box alone. O(3^pods).
[[nodiscard]] CheapestPlan cheapest_plan(const Problem& problem);

inline constexpr std::size_t kExactPodsMax = 16;

/// What dividing so many pieces takes, as nodes of a search.
[[nodiscard]] std::int64_t division_nodes(std::size_t pieces);

}  // namespace berth::purchase::advise
