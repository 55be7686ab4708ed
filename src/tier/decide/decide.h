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
};

/// Keeps the rules of docs/reference/tier.md: with an allowed tier whose probability is at least `sure`, none below is
/// taken unless it was measured; one known to miss is taken only if all are known to miss.
[[nodiscard]] Decision decide(const DecideCall& call);

}  // namespace berth::tier
