#include "tier/choose/prospect.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "base/core/ensure.h"
#include "tier/choose/memory_fit.h"
#include "tier/rules/apply_rules.h"
#include "tier/values/attained.h"

namespace berth::tier {
namespace {

/// Of a job 1 / x, of a service the slices; nothing if nothing is attained.
std::optional<Decimal> units_of(TierKind kind, const Decimal& attained, const TierTarget& target) {
  if (attained.sign() <= 0) return std::nullopt;
  return kind == TierKind::kJobs ? Decimal(1) / attained : slices_needed(attained, target);
}

/// The latency of the usable point with the most samples per second.
std::optional<double> latency_of_best(const std::vector<TierPoint>& points, const Decimal& latency_ms) {
  const TierPoint* best = nullptr;
  for (const TierPoint& point : points) {
    if (!is_usable(point, latency_ms)) continue;
    if (best == nullptr || best->samples_per_second < point.samples_per_second) best = &point;
  }
  return best == nullptr ? std::nullopt : std::optional(best->latency_ms.to_double());
}

TierProspect measured_prospect(TierKind kind, const std::vector<TierPoint>& points, const TierTarget& target) {
  const Decimal x = attained(kind, points, target).value();
  const bool is_kept = keeps(kind, x, target);
  TierProspect prospect{.is_measured = true,
                        .per_second = Spread{x.to_double(), x.to_double(), x.to_double()},
                        .probability = is_kept ? 1 : 0,
                        .units = is_kept ? units_of(kind, x, target) : std::nullopt};
  if (prospect.units) {
    prospect.units_mean = prospect.units->to_double();
    prospect.units_drawn = {*prospect.units_mean};
  }
  if (kind == TierKind::kServices) prospect.latency_ms = latency_of_best(points, target.latency_ms);
  prospect.latency_ms_p10 = prospect.latency_ms;
  prospect.latency_ms_p90 = prospect.latency_ms;
  return prospect;
}

TierProspect predicted_prospect(TierKind kind, const TierEstimate& estimate, const TierTarget& target) {
  const Spread spread{.median = estimate.per_second, .p10 = estimate.per_second_p10, .p90 = estimate.per_second_p90};
  TierProspect prospect{.per_second = spread,
                        .probability = estimate.probability,
                        .units = units_of(kind, decimal_of(spread.median), target),
                        .units_drawn = estimate.costs};
  if (std::isfinite(estimate.cost_mean)) prospect.units_mean = estimate.cost_mean;
  if (kind == TierKind::kJobs || estimate.latency_ms <= 0) return prospect;
  prospect.latency_ms = estimate.latency_ms;
  if (spread.p90 > 0) prospect.latency_ms_p10 = estimate.latency_ms * spread.median / spread.p90;
  if (spread.p10 > 0) prospect.latency_ms_p90 = estimate.latency_ms * spread.median / spread.p10;
  return prospect;
}

std::vector<std::optional<std::string>> reasons_of_exclusion(const ChooseCall& call, const TierTarget& target) {
  std::vector<std::optional<std::string>> reasons(call.tiers.size());
  if (call.rules) {
    reasons = exclusions(*call.rules, rule_facts(call.known.graph, call.kind, target), call.tiers);
    for (auto& reason : reasons) {
      if (reason) reason = "rule " + *reason;
    }
  }
  for (std::size_t i = 0; i < call.tiers.size(); ++i) {
    if (!reasons[i]) reasons[i] = memory_shortage(call.kind, call.known, call.tiers[i], !call.known.points[i].empty());
  }
  return reasons;
}

}  // namespace

std::vector<TierProspect> prospects_at(const ChooseCall& call, const TierTarget& target) {
  ENSURE(call.known.points.size() == call.tiers.size());
  const std::vector<TierEstimate> estimates = call.estimate_at ? call.estimate_at(target) : std::vector<TierEstimate>();
  ENSURE(!call.estimate_at || estimates.size() == call.tiers.size());
  const auto excluded = reasons_of_exclusion(call, target);
  std::vector<TierProspect> prospects(call.tiers.size());
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    const std::vector<TierPoint>& points = call.known.points[i];
    if (!points.empty()) {
      prospects[i] = measured_prospect(call.kind, points, target);
    } else if (call.estimate_at) {
      prospects[i] = predicted_prospect(call.kind, estimates[i], target);
    }
    prospects[i].excluded = excluded[i];
  }
  return prospects;
}

Decimal decimal_of(double value) {
  ENSURE(std::isfinite(value));
  const auto decimal = Decimal::parse(fmt::format("{:.12g}", std::abs(value) < 1e-25 ? 0.0 : value));
  ENSURE(decimal.has_value());
  return *decimal;
}

}  // namespace berth::tier
