/// The decision: measure one more tier, or take one. One policy with one set of parameters for all kinds of input.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tier/estimate/estimator.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

struct DecideCall {
  const TierTable* table = nullptr;  ///< its tiers, prices and kind; its workloads are not looked at
  const TierWorkload* known = nullptr;
  std::span<const TierEstimate> estimates = {};  ///< by tier
  TierTarget target = {};
  int measurements_left = 0;
  double sure = 0.9;
  std::span<const bool> allowed = {};  ///< by tier: it has the workload, and no rule excludes it
};

struct Decision {
  std::optional<std::size_t> measure = {};  ///< the tier to measure next; absent: `take` is final
  std::size_t take = 0;                     ///< the tier to take if nothing more is measured
  double probability = 0;                   ///< stated, of `take`
  double cost_expected = 0;                 ///< of `take`, with what a miss costs; in the unit of the costs
  double saves = 0;                         ///< expected, by measuring; 0 without `measure`
};

/// A tier that misses is replaced by the fastest one, and somebody has to do that: this many times its cost.
inline constexpr double kMissCost = 2.5;

/// Takes the tier of the least expected cost: probability x mean cost where it keeps the target + (1 - probability) x
/// kMissCost x the cost of the fastest tier (jobs: largest median; services: highest price). Equal: the more probable
/// one, then the cheaper. Measures the tier after which the expected cost of the then best choice is least, if that is
/// less than now; equal: the tier that would be taken, then the cheaper. Nothing is random. O(tiers^2 x costs of an
/// estimate). Requires: one estimate per tier, one of `allowed` is true.
///
/// Keeps the rules of docs/reference/tier.md: with an allowed tier whose probability is at least `sure`, none below is
/// taken unless it was measured; one known to miss is taken only if all are known to miss.
[[nodiscard]] Decision decide(const DecideCall& call);

}  // namespace berth::tier
