/// Berth's own format of measurements on tiers: `group,workload,tier,batch,processes,samples_per_second` and perhaps
/// `latency_ms,flops,activation_bytes,parameters,weight_bytes`, in any order of the columns; others are ignored.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

enum class OtherTiers : std::uint8_t {
  kLeaveOut,  ///< count rows of tiers that are not given, and ignore workloads without a row above 0
  kRefuse,    ///< refuse such rows and workloads
};

/// Services if the rows have a latency, else jobs; a rate of 0 is no row. Errors are FILE:LINE:COLUMN, wanted, found: a
/// number out of range, a repeated row, a latency only in some rows, graph figures that differ within a workload.
/// Requires: `tiers` have different names. O(n log n) in the rows.
[[nodiscard]] Result<TierTable> read_csv(std::string_view text, std::string_view file, const std::vector<Tier>& tiers,
                                         OtherTiers others);

}  // namespace berth::tier
