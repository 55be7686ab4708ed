/// Covers: multisets of slices that together meet the rate of one demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/packing/detail/instance.h"

namespace berth::packing::detail {

/// The remaining budget of a search. Shared by all parts of one `pack`.
struct Budget {
  std::int64_t nodes_max = 0;
  std::int64_t nodes = 0;
  [[nodiscard]] bool is_spent() const { return nodes >= nodes_max; }
};

/// Limits a budget to a share of the rest, during its lifetime.
class BudgetShare {
 public:
  BudgetShare(Budget& budget, std::int64_t divisor) : budget_(budget), nodes_max_(budget.nodes_max) {
    budget.nodes_max = budget.nodes + std::max<std::int64_t>(0, nodes_max_ - budget.nodes) / divisor;
  }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;
  ~BudgetShare() { budget_.nodes_max = nodes_max_; }

 private:
  Budget& budget_;
  std::int64_t nodes_max_;
};

/// Weights of each kind of slice, and per slice: they define the weight of a cover. All >= 0.
struct Weights {
  std::vector<std::int64_t> by_kind;
  std::int64_t per_slice = 0;

  [[nodiscard]] std::int64_t of_kind(std::size_t kind) const { return by_kind[kind] + per_slice; }
  [[nodiscard]] std::int64_t of(const Counts& counts) const;
};

/// A light cover, and a lower bound on the weight of all covers.
struct LightestCover {
  Counts cover;
  std::int64_t bound = 0;  ///< equals the cover's weight unless the search was stopped early
};

/// The lightest cover of a demand. Branch and bound over kinds from the best weight per throughput on; exact up to a
/// fixed number of nodes, beyond it `bound` is the proven value. Requires: weights below 2^40, at most kSlicesMax
/// slices.
[[nodiscard]] LightestCover lightest_cover(const InstanceDemand& demand, const Weights& weights);

/// A limit on the weight of a cover.
struct CoverLimit {
  const Weights* weights = nullptr;
  std::int64_t weight_max = 0;
};

/// Covers in which no slice is surplus and that keep every limit, ascending by the weight of the first limit, then by
/// counts.
struct CoverList {
  std::vector<Counts> covers;
  bool is_complete = true;  ///< false: there are more than `count_max`, or the nodes were used up
};

/// Enumerates them by depth-first search over kinds, the fastest first. Requires: at least one limit.
[[nodiscard]] CoverList minimal_covers(const InstanceDemand& demand, std::span<const CoverLimit> limits,
                                       std::size_t count_max, Budget& budget);

}  // namespace berth::packing::detail
