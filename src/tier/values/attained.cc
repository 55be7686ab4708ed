#include "tier/values/attained.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

/// Half of the target for waiting, and a tenth of the rest as a reserve (ParvaGPU, SC'24).
Decimal usable_share() { return {9, 20}; }

Decimal ceiling(const Decimal& value) {
  const Decimal floor(value.floor());
  return floor == value ? floor : floor + Decimal(1);
}

}  // namespace

bool is_usable(const TierPoint& point, const Decimal& latency_ms) {
  return point.latency_ms < usable_share() * latency_ms;
}

std::optional<Decimal> attained(TierKind kind, std::span<const TierPoint> points, const TierTarget& target) {
  if (points.empty()) return std::nullopt;
  if (kind == TierKind::kJobs) return points.front().samples_per_second;
  Decimal most;
  for (const TierPoint& point : points) {
    if (is_usable(point, target.latency_ms)) most = std::max(most, point.samples_per_second);
  }
  return most;
}

bool keeps(TierKind kind, const Decimal& attained, const TierTarget& target) {
  return kind == TierKind::kJobs ? attained >= target.per_second : attained.sign() > 0;
}

Decimal cost_of(TierKind kind, const Tier& tier, const Decimal& attained, const TierTarget& target) {
  ENSURE(attained.sign() > 0);
  if (kind == TierKind::kJobs) return tier.usd_per_hour / attained;
  return tier.usd_per_hour * slices_needed(attained, target);
}

Decimal slices_needed(const Decimal& attained, const TierTarget& target) {
  ENSURE(attained.sign() > 0);
  return ceiling(target.per_second / attained);
}

}  // namespace berth::tier
