/// Covers: multisets of slices that together meet the rate of one demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "capacity/detail/instance.h"

namespace berth::capacity::detail {

/// What a search may still spend. Shared by everything that one `pack` does.
struct Budget {
  std::int64_t nodes_max = 0;
  std::int64_t nodes = 0;
  [[nodiscard]] bool is_spent() const { return nodes >= nodes_max; }
};

/// Holds a budget to a share of what is left, for as long as it lives.
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

/// A weight on each kind of slice, and on the number of slices: what a cover weighs. All >= 0.
struct Weights {
  std::vector<std::int64_t> by_kind;
  std::int64_t per_slice = 0;

  [[nodiscard]] std::int64_t of_kind(std::size_t kind) const { return by_kind[kind] + per_slice; }
  [[nodiscard]] std::int64_t of(const Counts& counts) const;
};

/// A light cover, and what no cover can weigh less than.
struct LightestCover {
  Counts cover;
  std::int64_t bound = 0;  ///< equals the cover's weight unless the search was cut short
};

/// The lightest cover of a demand. Branch and bound over kinds from the best weight per throughput on; exact up to a
/// fixed number of nodes, beyond it `bound` is what is proven. Requires: weights below 2^40, at most kSlicesMax slices.
[[nodiscard]] LightestCover lightest_cover(const InstanceDemand& demand, const Weights& weights);

/// A limit on what a cover may weigh.
struct CoverLimit {
  const Weights* weights = nullptr;
  std::int64_t weight_max = 0;
};

/// Covers in which no slice is surplus and that keep every limit, ascending by the weight of the first limit, then by
/// counts.
struct CoverList {
  std::vector<Counts> covers;
  bool is_complete = true;  ///< false: there are more than `count_max`, or the nodes were spent
};

/// Enumerates them by depth-first search over kinds, the fastest first. Requires: at least one limit.
[[nodiscard]] CoverList minimal_covers(const InstanceDemand& demand, std::span<const CoverLimit> limits,
                                       std::size_t count_max, Budget& budget);

}  // namespace berth::capacity::detail
