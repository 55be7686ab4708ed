/// What a workload may attain on a tier where it was not measured: all sizes of work there move together with one
/// standardised residual z, and more of it is never worse.
#pragma once

#include <cstddef>
#include <vector>

#include "tier/estimate/detail/spread.h"
#include "tier/estimate/estimator.h"

namespace berth::tier {

/// One size of work: throughput is exp(log_per_second + deviation x z).
struct SizeOutlook {
  double rows = 1;  ///< batch x processes
  double log_per_second = 0;
  double deviation = 0;
};

struct TierOutlook {
  TierKind kind = TierKind::kJobs;
  double usd_per_hour = 0;
  double latency_factor = 1;  ///< latency / (rows / throughput)
  int degrees = 3;            ///< of freedom of z
  std::vector<SizeOutlook> sizes = {};
};

/// The target's numbers, as doubles.
[[nodiscard]] TierEstimate estimate_of(const TierOutlook& outlook, const TierTarget& target);

}  // namespace berth::tier
