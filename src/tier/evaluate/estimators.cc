#include "tier/evaluate/estimators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tier/estimate/estimator.h"
#include "tier/evaluate/ratio_spread.h"

namespace berth::tier {
namespace {

using OtherWorkloads = std::vector<const TierWorkload*>;

/// How much more a known ratio says about similarity than a feature of the anchor.
constexpr double kKnownRatioWeight = 10;
double log_rate_ratio(const TierPoint& to, const TierPoint& from) {
  return std::log(to.samples_per_second.to_double() / from.samples_per_second.to_double());
}

/// Of hardware alone, where no workload can be compared: the ratio of compute, of prices where it is not stated.
double fallback_ratio(const TierTable& table, const RatioQuery& query) {
  const Tier& from = table.tiers[query.anchor];
  const Tier& to = table.tiers[query.tier];
  const bool has_compute = from.tflops && to.tflops;
  return has_compute ? std::log(to.tflops->to_double() / from.tflops->to_double())
                     : std::log(to.usd_per_hour.to_double() / from.usd_per_hour.to_double());
}

/// Of a point and of all points on a tier, as logarithms: batch, processes, the rate at the first point, the point's
/// rate over it (slope), and the largest rate over it (saturation).
std::array<double, 5> similarity_features(const std::vector<TierPoint>& points, const TierPoint& point) {
  const double first = points.front().samples_per_second.to_double();
  double most = first;
  for (const TierPoint& other : points) most = std::max(most, other.samples_per_second.to_double());
  return {std::log(point.batch), std::log(point.processes), std::log(first),
          std::log(point.samples_per_second.to_double() / first), std::log(most / first)};
}

double square(double value) { return value * value; }

/// Of two workloads at a point that both have on the anchor.
double distance_between(TierKind kind, const RatioQuery& query, const TierWorkload& other, const TierPoint& same) {
  const std::array<double, 5> a = similarity_features(query.known->points[query.anchor], *query.point);
  const std::array<double, 5> b = similarity_features(other.points[query.anchor], same);
  double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) distance += square(a[i] - b[i]);
  for (std::size_t tier = query.anchor + 1; tier < query.known->points.size(); ++tier) {
    const TierPoint* ours = same_point(kind, query.known->points[tier], *query.point);
    const TierPoint* theirs = same_point(kind, other.points[tier], *query.point);
    if (ours == nullptr || theirs == nullptr) continue;
    distance += kKnownRatioWeight * square(log_rate_ratio(*ours, *query.point) - log_rate_ratio(*theirs, same));
  }
  return distance;
}

/// The ratio of the most similar workload that has rows on both tiers; ties: the first.
double nearest_ratio(const TierTable& table, const OtherWorkloads& from, const RatioQuery& query) {
  double nearest = std::numeric_limits<double>::infinity();
  std::optional<double> ratio;
  for (const TierWorkload* other : from) {
    const TierPoint* on_anchor = same_point(table.kind, other->points[query.anchor], *query.point);
    const TierPoint* on_tier = same_point(table.kind, other->points[query.tier], *query.point);
    if (on_anchor == nullptr || on_tier == nullptr) continue;
    const double distance = distance_between(table.kind, query, *other, *on_anchor);
    if (distance >= nearest) continue;
    nearest = distance;
    ratio = log_rate_ratio(*on_tier, *on_anchor);
  }
  return ratio ? *ratio : fallback_ratio(table, query);
}

RatioPredictor learn_nearest(const TierTable& table, std::span<const TierWorkload* const> from) {
  return [&table, workloads = OtherWorkloads(from.begin(), from.end())](const RatioQuery& query) {
    return nearest_ratio(table, workloads, query);
  };
}

Result<EstimateFunction> trained(const TierTable& table, std::span<const std::string> groups_left_out,
                                 const EstimatorSettings& settings) {
  const auto estimator = Estimator::train(table, groups_left_out, settings);
  if (!estimator) return pass_on(estimator.error());
  return EstimateFunction([estimator = *estimator](const TierWorkload& known, const TierTarget& target) {
    return estimator.estimate(known, target);
  });
}

}  // namespace

Result<EstimateFunction> make_forest(const TierTable& table, std::span<const std::string> groups_left_out) {
  return trained(table, groups_left_out, {});
}

Result<EstimateFunction> make_linear(const TierTable& table, std::span<const std::string> groups_left_out) {
  return trained(table, groups_left_out, {.forest_share = 0});
}

Result<EstimateFunction> make_nearest(const TierTable& table, std::span<const std::string> groups_left_out) {
  return make_spread_estimates(table, groups_left_out, learn_nearest);
}

}  // namespace berth::tier
