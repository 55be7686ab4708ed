/// The target of `berth tier predict` as typed: "requests_per_second=R latency_ms=L" or "samples_per_second=T".
#pragma once

#include <string_view>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::cli {

struct KindAndTarget {
  tier::TierKind kind = tier::TierKind::kJobs;
  tier::TierTarget target;
};

/// Words separated by blanks, in any order. Rates and latencies are above 0.
[[nodiscard]] Result<KindAndTarget> parse_tier_target(std::string_view text);

}  // namespace berth::cli
