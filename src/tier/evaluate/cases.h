/// The cases of an evaluation: a workload and a target, made from what was measured of it. The rules are in
/// docs/reference/tier.md.
#pragma once

#include <cstddef>
#include <vector>

#include "base/core/decimal.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// From what the targets of the cases are made. The defaults are those of the published figures.
struct CaseSettings {
  /// Jobs: parts of the largest rate, each from 0 to 1.
  std::vector<Decimal> fractions = {Decimal(0),     Decimal(3, 10),   Decimal(1, 2),
                                    Decimal(7, 10), Decimal(85, 100), Decimal(95, 100)};
  /// Services: multiples, each above 1, of the least latency on the reference tier, over 0.45.
  std::vector<Decimal> latencies = {Decimal(115, 100), Decimal(3, 2), Decimal(5, 2), Decimal(5), Decimal(10)};
  /// Services: multiples, each above 0, of what the reference tier attains within the latency.
  std::vector<Decimal> rates = {Decimal(15, 100), Decimal(1, 2), Decimal(3, 2), Decimal(5)};
};

struct TierCase {
  std::size_t workload = 0;  ///< index in TierTable::workloads
  TierTarget target;
};

/// By workload in the order of the table, then by fraction, or by latency and rate. Jobs with rows on fewer than two
/// tiers have no cases, nor have services without a row of batch 1 and one process on the tier `reference`.
/// Requires: the settings are in their ranges; jobs have at most one point per tier.
[[nodiscard]] std::vector<TierCase> cases_of(const TierTable& table, std::size_t reference,
                                             const CaseSettings& settings);

}  // namespace berth::tier
