#include "tier/enforce/forest_speeds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace berth::tier {
namespace {

/// What is known of the table, as rows of the tiers.
TierWorkload known_workload(const std::vector<Tier>& tiers, const PerformanceTable& all,
                            std::span<const std::string> known_on) {
  TierWorkload workload{.group = all.model, .name = all.model};
  for (const Tier& tier : tiers) {
    std::vector<TierPoint>& points = workload.points.emplace_back();
    if (std::ranges::find(known_on, tier.gpu) == known_on.end()) continue;
    for (const PerformancePoint& point : all.points) {
      if (point.gpu != tier.gpu || point.profile != tier.profile) continue;
      points.push_back({.batch = point.batch,
                        .processes = point.processes,
                        .samples_per_second = point.requests_per_second,
                        .latency_ms = point.latency_ms});
    }
  }
  return workload;
}

}  // namespace

std::optional<ForestSpeeds> forest_speeds(const Estimator& estimator, const PerformanceTable& all,
                                          std::span<const std::string> known_on) {
  constexpr std::int64_t kAnyLatencyMs = 1'000'000'000'000;
  constexpr double kQuantile90 = 1.2815515655;  // of the standard normal distribution
  const std::vector<Tier>& tiers = estimator.tiers();
  const TierWorkload workload = known_workload(tiers, all, known_on);
  const auto anchor = std::ranges::find_if(workload.points, [](const auto& points) { return !points.empty(); });
  if (anchor == workload.points.end()) return std::nullopt;
  const auto over = static_cast<std::size_t>(anchor - workload.points.begin());
  const std::vector<TierEstimate> estimates =
      estimator.estimate(workload, {.per_second = Decimal(0), .latency_ms = Decimal(kAnyLatencyMs)});
  ForestSpeeds speeds{.over = {tiers[over].gpu, tiers[over].profile}, .of = {}};
  const double base = estimates[over].per_second;
  for (std::size_t index = 0; index < tiers.size(); ++index) {
    const TierEstimate& estimate = estimates[index];
    const bool is_predicted = !estimate.is_measured && estimate.per_second > 0 && estimate.per_second_p10 > 0;
    if (!is_predicted || tiers[index].gpu.empty() || base <= 0) continue;
    speeds.of[{tiers[index].gpu, tiers[index].profile}] = {
        .mean = std::log(estimate.per_second / base),
        .spread = std::log(estimate.per_second_p90 / estimate.per_second_p10) / (2 * kQuantile90)};
  }
  return speeds;
}

Result<std::optional<Estimator>> read_tier_model(const TierSettings& settings) {
  if (!settings.forest) return std::nullopt;
  auto estimator = Estimator::read(*settings.forest, settings.forest_file);
  if (!estimator) return pass_on(estimator.error());
  if (estimator->kind() == TierKind::kServices) return std::optional(std::move(*estimator));
  return invalid(settings.forest_file + ": wanted a model that was trained on services, found one of jobs");
}

}  // namespace berth::tier
