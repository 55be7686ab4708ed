#include "tier/evaluate/ratio_rivals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tier/evaluate/ratio_features.h"
#include "tier/evaluate/ratio_spread.h"

namespace berth::tier {
namespace {

using Workloads = std::vector<const TierWorkload*>;

/// How much more a known ratio says about similarity than a feature of the anchor.
constexpr double kKnownRatioWeight = 10;
/// Of the ridge, for features that are scaled to a mean square of 1 per example.
constexpr double kRidge = 0.01;

double log_rate_ratio(const TierPoint& to, const TierPoint& from) {
  return std::log(to.samples_per_second.to_double() / from.samples_per_second.to_double());
}

/// Of hardware alone: what is predicted where no workload can be compared.
double fallback_ratio(const TierTable& table, const RatioQuery& query) {
  return tier_pair_features(table.tiers[query.anchor], table.tiers[query.tier]).front();
}

// ---- nearest ----

double square(double value) { return value * value; }

/// Of two workloads at a point that both have on the anchor.
double distance_between(TierKind kind, const RatioQuery& query, const TierWorkload& other, const TierPoint& same) {
  const std::vector<double> a = workload_features(query.known->points[query.anchor], *query.point);
  const std::vector<double> b = workload_features(other.points[query.anchor], same);
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
double nearest_ratio(const TierTable& table, const Workloads& from, const RatioQuery& query) {
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
  return [&table, workloads = Workloads(from.begin(), from.end())](const RatioQuery& query) {
    return nearest_ratio(table, workloads, query);
  };
}

// ---- linear ----

/// Each feature of the pair of tiers, alone and with each feature of the workload.
std::vector<double> linear_features(const TierTable& table, const RatioQuery& query) {
  const std::vector<double> of_tiers = tier_pair_features(table.tiers[query.anchor], table.tiers[query.tier]);
  const std::vector<double> of_workload = workload_features(query.known->points[query.anchor], *query.point);
  std::vector<double> features;
  for (const double tiers : of_tiers) {
    features.push_back(tiers);
    for (const double workload : of_workload) features.push_back(tiers * workload);
  }
  return features;
}

struct LinearExample {
  std::vector<double> features;
  double log_ratio = 0;
};

/// Every point of a workload that two tiers have, for all pairs of tiers.
void add_examples(std::vector<LinearExample>& examples, const TierTable& table, const TierWorkload& workload) {
  for (std::size_t from = 0; from < table.tiers.size(); ++from) {
    for (std::size_t to = from + 1; to < table.tiers.size(); ++to) {
      for (const TierPoint& point : workload.points[from]) {
        const TierPoint* there = same_point(table.kind, workload.points[to], point);
        if (there == nullptr) continue;
        examples.push_back({linear_features(table, {.known = &workload, .anchor = from, .tier = to, .point = &point}),
                            log_rate_ratio(*there, point)});
      }
    }
  }
}

/// The root mean square of each feature; 1 where it is always 0.
std::vector<double> scales_of(const std::vector<LinearExample>& examples) {
  std::vector<double> scales(examples.front().features.size());
  for (const LinearExample& example : examples) {
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] += square(example.features[i]);
  }
  for (double& scale : scales) {
    scale = std::sqrt(scale / static_cast<double>(examples.size()));
    if (scale == 0) scale = 1;
  }
  return scales;
}

/// The weights of a ridge regression without a constant: equal tiers have a ratio of 1.
std::vector<double> ridge_weights(std::vector<LinearExample> examples) {
  const std::vector<double> scales = scales_of(examples);
  const std::size_t size = scales.size();
  std::vector<double> matrix(size * size);
  std::vector<double> right_side(size);
  for (LinearExample& example : examples) {
    for (std::size_t i = 0; i < size; ++i) example.features[i] /= scales[i];
    for (std::size_t i = 0; i < size; ++i) {
      right_side[i] += example.features[i] * example.log_ratio;
      for (std::size_t j = 0; j < size; ++j) matrix[i * size + j] += example.features[i] * example.features[j];
    }
  }
  for (std::size_t i = 0; i < size; ++i) matrix[i * size + i] += kRidge * static_cast<double>(examples.size());
  std::vector<double> weights = solve_positive(std::move(matrix), std::move(right_side));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] /= scales[i];
  return weights;
}

RatioPredictor learn_linear(const TierTable& table, std::span<const TierWorkload* const> from) {
  std::vector<LinearExample> examples;
  for (const TierWorkload* workload : from) add_examples(examples, table, *workload);
  std::vector<double> weights = examples.empty() ? std::vector<double>() : ridge_weights(std::move(examples));
  return [&table, weights = std::move(weights)](const RatioQuery& query) {
    if (weights.empty()) return fallback_ratio(table, query);
    const std::vector<double> features = linear_features(table, query);
    double ratio = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) ratio += weights[i] * features[i];
    return ratio;
  };
}

}  // namespace

Result<EstimateFunction> make_nearest(const TierTable& table, std::span<const std::string> groups_left_out) {
  return make_spread_estimates(table, groups_left_out, learn_nearest);
}

Result<EstimateFunction> make_linear(const TierTable& table, std::span<const std::string> groups_left_out) {
  return make_spread_estimates(table, groups_left_out, learn_linear);
}

}  // namespace berth::tier
