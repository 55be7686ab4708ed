#include "tier/evaluate/ratio_features.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace berth::tier {
namespace {

double log_ratio(const Decimal& a, const Decimal& b) { return std::log(a.to_double() / b.to_double()); }

}  // namespace

std::vector<double> tier_pair_features(const Tier& from, const Tier& to) {
  const double prices = log_ratio(to.usd_per_hour, from.usd_per_hour);
  const auto of = [&](const std::optional<Decimal>& a, const std::optional<Decimal>& b) {
    return a && b ? log_ratio(*a, *b) : prices;
  };
  return {of(to.tflops, from.tflops), of(to.gb_per_second, from.gb_per_second), of(to.memory_mib, from.memory_mib)};
}

std::vector<double> workload_features(const std::vector<TierPoint>& points, const TierPoint& point) {
  const Decimal& first = points.front().samples_per_second;
  const Decimal& most =
      std::ranges::max_element(points, {}, [](const TierPoint& p) { return p.samples_per_second; })->samples_per_second;
  return {std::log(point.batch), std::log(point.processes), std::log(first.to_double()),
          log_ratio(point.samples_per_second, first), log_ratio(most, first)};
}

}  // namespace berth::tier
