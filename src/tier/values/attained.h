/// What a workload attains on a tier, and what it costs there: the exact definitions that all of `tier` shares.
#pragma once

#include <optional>
#include <span>

#include "base/core/decimal.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Whether a point may be used within a latency: latency < 0.45 x latency_ms, exactly.
[[nodiscard]] bool is_usable(const TierPoint& point, const Decimal& latency_ms);

/// x(tier): the samples per second of a job's only point; for services the most of a usable point, 0 without one.
/// Absent: the workload has no row there.
[[nodiscard]] std::optional<Decimal> attained(TierKind kind, std::span<const TierPoint> points,
                                              const TierTarget& target);

/// Whether a tier keeps a target: x >= T for jobs, x > 0 for services, whose slices are as many as it takes.
[[nodiscard]] bool keeps(TierKind kind, const Decimal& attained, const TierTarget& target);

/// USD per sample (jobs: price / x) or USD per hour (services: price x ceil(R / x)). Requires: attained > 0.
[[nodiscard]] Decimal cost_of(TierKind kind, const Tier& tier, const Decimal& attained, const TierTarget& target);

/// The slices that a service needs: ceil(R / x), at least 1 where R > 0. Requires: attained > 0.
[[nodiscard]] Decimal slices_needed(const Decimal& attained, const TierTarget& target);

}  // namespace berth::tier
