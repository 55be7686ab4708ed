#include "tier/evaluate/truth.h"

#include "base/core/ensure.h"
#include "tier/values/attained.h"

namespace berth::tier {
namespace {

/// The tier whose cost a miss has: for jobs that with the largest rate (ties: the cheaper tier), for services the
/// reference.
std::size_t fastest_tier(const TierTable& table, std::size_t reference, const CaseTruth& truth) {
  if (table.kind == TierKind::kServices) return reference;
  std::size_t fastest = truth.anchor;
  for (const std::size_t tier : truth.candidates()) {
    if (*truth.attained[tier] > *truth.attained[fastest]) fastest = tier;
  }
  return fastest;
}

}  // namespace

std::vector<std::size_t> CaseTruth::candidates() const {
  std::vector<std::size_t> tiers;
  for (std::size_t tier = 0; tier < attained.size(); ++tier) {
    if (has(tier)) tiers.push_back(tier);
  }
  return tiers;
}

CaseTruth truth_of(const TierTable& table, std::size_t reference, const TierCase& of) {
  const TierWorkload& workload = table.workloads[of.workload];
  CaseTruth truth;
  truth.attained.reserve(table.tiers.size());
  truth.cost.reserve(table.tiers.size());
  std::optional<std::size_t> best;
  for (std::size_t tier = 0; tier < table.tiers.size(); ++tier) {
    const auto rate = attained(table.kind, workload.points[tier], of.target);
    const bool is_kept = rate && keeps(table.kind, *rate, of.target);
    truth.attained.push_back(rate);
    truth.cost.push_back(is_kept ? std::optional(cost_of(table.kind, table.tiers[tier], *rate, of.target))
                                 : std::nullopt);
    if (is_kept && (!best || *truth.cost[tier] < *truth.cost[*best])) best = tier;
  }
  ENSURE(best.has_value());
  truth.anchor = truth.candidates().front();
  truth.best = *best;
  truth.miss_cost = truth.cost[fastest_tier(table, reference, truth)].value();
  return truth;
}

}  // namespace berth::tier
