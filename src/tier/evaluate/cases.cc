#include "tier/evaluate/cases.h"

#include <algorithm>
#include <optional>

#include "tier/values/attained.h"

namespace berth::tier {
namespace {

/// A point is usable if its latency is below this part of the target (attained.h).
Decimal usable_latency_share() { return {45, 100}; }

std::optional<Decimal> largest_rate(const TierWorkload& workload) {
  std::optional<Decimal> largest;
  std::size_t tier_count = 0;
  for (const std::vector<TierPoint>& points : workload.points) {
    const auto rate = attained(TierKind::kJobs, points, {});
    if (!rate) continue;
    ++tier_count;
    if (!largest || *rate > *largest) largest = rate;
  }
  return tier_count >= 2 ? largest : std::nullopt;
}

void add_job(std::vector<TierCase>& cases, const TierWorkload& workload, std::size_t index,
             const CaseSettings& settings) {
  const auto largest = largest_rate(workload);
  if (!largest) return;
  for (const Decimal& fraction : settings.fractions) {
    cases.push_back({.workload = index, .target = {.per_second = fraction * *largest}});
  }
}

void add_service(std::vector<TierCase>& cases, const TierWorkload& workload, std::size_t index, std::size_t reference,
                 const CaseSettings& settings) {
  const std::vector<TierPoint>& points = workload.points[reference];
  const auto single =
      std::ranges::find_if(points, [](const TierPoint& point) { return point.batch == 1 && point.processes == 1; });
  if (single == points.end()) return;
  for (const Decimal& multiple : settings.latencies) {
    TierTarget target{.per_second = {}, .latency_ms = multiple * single->latency_ms / usable_latency_share()};
    const Decimal most = attained(TierKind::kServices, points, target).value();
    for (const Decimal& rate : settings.rates) {
      target.per_second = rate * most;
      cases.push_back({.workload = index, .target = target});
    }
  }
}

}  // namespace

std::vector<TierCase> cases_of(const TierTable& table, std::size_t reference, const CaseSettings& settings) {
  std::vector<TierCase> cases;
  for (std::size_t i = 0; i < table.workloads.size(); ++i) {
    if (table.kind == TierKind::kJobs) {
      add_job(cases, table.workloads[i], i, settings);
    } else {
      add_service(cases, table.workloads[i], i, reference, settings);
    }
  }
  return cases;
}

}  // namespace berth::tier
