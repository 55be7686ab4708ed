/// What each tier would have given in a case, in hindsight: exact.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/core/decimal.h"
#include "tier/evaluate/cases.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

struct CaseTruth {
  std::vector<std::optional<Decimal>> attained;  ///< x by tier; absent: the tier does not have the workload
  std::vector<std::optional<Decimal>> cost;      ///< by tier that keeps the target; absent for the others
  std::size_t anchor = 0;                        ///< the cheapest tier that has the workload
  std::size_t best = 0;                          ///< keeps the target at the least cost; ties: the cheaper tier
  Decimal miss_cost;                             ///< what a choice costs that misses

  [[nodiscard]] bool has(std::size_t tier) const { return attained[tier].has_value(); }
  [[nodiscard]] bool keeps(std::size_t tier) const { return cost[tier].has_value(); }
  /// Its own, or that of a miss.
  [[nodiscard]] const Decimal& charged(std::size_t tier) const { return keeps(tier) ? *cost[tier] : miss_cost; }
  /// The tiers that have the workload, by price.
  [[nodiscard]] std::vector<std::size_t> candidates() const;
};

/// Requires: the case is of `cases_of` with the same table and reference, so that a tier keeps its target.
[[nodiscard]] CaseTruth truth_of(const TierTable& table, std::size_t reference, const TierCase& of);

}  // namespace berth::tier
