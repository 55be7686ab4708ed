/// Local search: redistributes the pods of a few instances as cheaply as possible.
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
  std::int64_t nodes = 0;  ///< sets of pods examined
};

/// Repeatedly takes a few instances at random. Their pods form at most kPiecesMax pieces (with more pods, some stay
/// together as one piece), and an exact dynamic program over the sets of pieces finds the cheapest way to divide them
/// among instances. The result is accepted if it costs no more: accepting ties lets the search move. Ends after
/// `nodes_max` sets, after `idle_rounds_max` rounds without a saving, or when the watch returns false. O(3^kPiecesMax)
/// per round.
[[nodiscard]] Regrouped regroup(const Problem& problem, Plan plan, const RegroupEffort& effort, Rng rng);

inline constexpr std::size_t kPiecesMax = 11;

/// `is_proven`: no plan is cheaper. False only if a search for shares reached its limit.
struct CheapestPlan {
  Plan plan;
  bool is_proven = false;
  std::int64_t nodes = 0;
};

/// The cheapest plan of all, by that dynamic program over sets of pods. Requires: at most kExactPodsMax pods, each of
/// which fits a box alone. O(3^pods).
[[nodiscard]] CheapestPlan cheapest_plan(const Problem& problem);

inline constexpr std::size_t kExactPodsMax = 16;

/// The cost of dividing `pieces` pieces, in nodes of a search.
[[nodiscard]] std::int64_t division_nodes(std::size_t pieces);

}  // namespace berth::purchase::advise
