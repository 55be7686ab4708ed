#include "tier/evaluate/ratio_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "tier/values/attained.h"

namespace berth::tier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The least standard deviation: measurements of the same thing differ by as much.
constexpr double kLeastSpread = 0.02;
/// So many residuals of the usual size are assumed for each tier and pair, in addition to those seen.
constexpr double kAssumedCount = 2;
/// The 10th and 90th percentile of the standard normal distribution.
constexpr double kTenth = 1.2815515655446004;
/// Of more workloads only every k-th shows how far predictions are off: each costs as much as a prediction per point.
constexpr std::size_t kSpreadWorkloadsMax = 200;
/// Midpoints of equally probable parts, for means.
constexpr std::size_t kPartCount = 20;

double log_of(const Decimal& value) { return std::log(value.to_double()); }

double normal_share_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// The z with that share below it, by bisection.
double normal_quantile(double share) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_share_below(middle) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

const std::array<double, kPartCount>& part_middles() {
  static const std::array<double, kPartCount> middles = [] {
    std::array<double, kPartCount> values{};
    for (std::size_t i = 0; i < kPartCount; ++i) {
      values[i] = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(kPartCount));
    }
    return values;
  }();
  return middles;
}

std::optional<std::size_t> first_known(const TierWorkload& workload) {
  for (std::size_t tier = 0; tier < workload.points.size(); ++tier) {
    if (!workload.points[tier].empty()) return tier;
  }
  return std::nullopt;
}

/// Mean over the points that both tiers have of the logarithm of the real ratio minus the predicted one.
std::optional<double> residual_of(TierKind kind, const RatioPredictor& predict, const TierWorkload& known,
                                  std::size_t anchor, std::size_t tier, const std::vector<TierPoint>& real) {
  double sum = 0;
  int count = 0;
  for (const TierPoint& point : known.points[anchor]) {
    const TierPoint* there = same_point(kind, real, point);
    if (there == nullptr) continue;
    const double ratio = log_of(there->samples_per_second / point.samples_per_second);
    sum += ratio - predict({.known = &known, .anchor = anchor, .tier = tier, .point = &point});
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

using Workloads = std::vector<const TierWorkload*>;

/// Covariances between tiers, row by row.
class Covariance {
 public:
  explicit Covariance(std::size_t size) : size_(size), sums_(size * size), counts_(size * size) {}

  void add(const std::vector<std::optional<double>>& residuals) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        if (!residuals[i] || !residuals[j]) continue;
        sums_[i * size_ + j] += *residuals[i] * *residuals[j];
        counts_[i * size_ + j] += 1;
      }
    }
  }

  /// To be called once, after all residuals.
  void finish() {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      sum += sums_[i * size_ + i];
      count += counts_[i * size_ + i];
    }
    usual_ = count > 0 ? sum / count : 1;
  }

  [[nodiscard]] double at(std::size_t i, std::size_t j) const {
    const double count = counts_[i * size_ + j] + kAssumedCount;
    if (i != j) return sums_[i * size_ + j] / count;
    return (sums_[i * size_ + i] + kAssumedCount * usual_) / count + kLeastSpread * kLeastSpread;
  }

 private:
  std::size_t size_;
  std::vector<double> sums_;
  std::vector<double> counts_;
  double usual_ = 1;
};

/// Mean and standard deviation of a residual.
struct Spread {
  double mean = 0;
  double deviation = 0;
};

/// Of a tier, given the residuals of measured tiers.
Spread spread_given(const Covariance& covariance, std::size_t tier,
                    const std::vector<std::pair<std::size_t, double>>& measured) {
  const double variance = covariance.at(tier, tier);
  const std::size_t count = measured.size();
  std::vector<double> among(count * count);
  std::vector<double> with_tier(count);
  for (std::size_t i = 0; i < count; ++i) {
    with_tier[i] = covariance.at(tier, measured[i].first);
    for (std::size_t j = 0; j < count; ++j) {
      among[i * count + j] = covariance.at(measured[i].first, measured[j].first);
    }
  }
  const std::vector<double> weights = solve_positive(among, with_tier);
  Spread spread{.mean = 0, .deviation = std::sqrt(variance)};
  if (weights.empty()) return spread;
  double explained = 0;
  for (std::size_t i = 0; i < count; ++i) {
    spread.mean += weights[i] * measured[i].second;
    explained += weights[i] * with_tier[i];
  }
  spread.deviation = std::sqrt(std::max(variance - explained, kLeastSpread * kLeastSpread));
  return spread;
}

/// What a predicted point gives at the middle of its spread.
struct PredictedPoint {
  double rate = 0;
  double latency_ms = 0;
};

/// One tier with predicted points that all vary by the same factor.
class PredictedTier {
 public:
  PredictedTier(TierKind kind, const Tier& tier, const TierTarget& target, std::vector<PredictedPoint> points,
                double deviation)
      : kind_(kind),
        price_(tier.usd_per_hour.to_double()),
        rate_(target.per_second.to_double()),
        latency_(0.45 * target.latency_ms.to_double()),
        points_(std::move(points)),
        deviation_(deviation) {}

  [[nodiscard]] TierEstimate estimate() const {
    TierEstimate estimate{.per_second = attained_at(0),
                          .per_second_p10 = attained_at(-kTenth),
                          .per_second_p90 = attained_at(kTenth),
                          .latency_ms = latency_at_middle(),
                          .probability = probability(),
                          .cost = cost_at(0, false)};
    double sum = 0;
    for (const double z : part_middles()) {
      const double cost = cost_at(z, true);
      if (cost == kInfinity) continue;
      sum += cost;
      estimate.costs.push_back(cost);
    }
    estimate.cost_mean = estimate.costs.empty() ? kInfinity : sum / static_cast<double>(estimate.costs.size());
    return estimate;
  }

 private:
  [[nodiscard]] const PredictedPoint* best_at(double z) const {
    const double factor = std::exp(z * deviation_);
    const PredictedPoint* best = nullptr;
    for (const PredictedPoint& point : points_) {
      const bool is_usable = kind_ == TierKind::kJobs || point.latency_ms / factor < latency_;
      if (is_usable && (best == nullptr || point.rate > best->rate)) best = &point;
    }
    return best;
  }
  [[nodiscard]] double attained_at(double z) const {
    const PredictedPoint* best = best_at(z);
    return best == nullptr ? 0 : best->rate * std::exp(z * deviation_);
  }
  [[nodiscard]] double latency_at_middle() const {
    const PredictedPoint* best = best_at(0);
    return best == nullptr || kind_ == TierKind::kJobs ? 0 : best->latency_ms;
  }
  [[nodiscard]] double cost_at(double z, bool is_to_keep) const {
    const double attained = attained_at(z);
    if (attained <= 0) return kInfinity;
    if (kind_ == TierKind::kServices) return price_ * std::max(1.0, std::ceil(rate_ / attained));
    return is_to_keep && attained < rate_ ? kInfinity : price_ / attained;
  }
  /// By how much all points may be worse, as a logarithm, such that the target is just kept.
  [[nodiscard]] double probability() const {
    double room = -kInfinity;
    for (const PredictedPoint& point : points_) {
      const double of_point =
          kind_ == TierKind::kJobs ? std::log(point.rate / rate_) : std::log(latency_ / point.latency_ms);
      room = std::max(room, rate_ <= 0 && kind_ == TierKind::kJobs ? kInfinity : of_point);
    }
    return normal_share_below(room / deviation_);
  }

  TierKind kind_;
  double price_;
  double rate_;
  double latency_;
  std::vector<PredictedPoint> points_;
  double deviation_;
};

/// Exact figures of a tier that was measured.
TierEstimate measured_estimate(TierKind kind, const Tier& tier, const std::vector<TierPoint>& points,
                               const TierTarget& target) {
  const Decimal rate = attained(kind, points, target).value();
  const bool is_kept = keeps(kind, rate, target);
  const double cost = rate.sign() > 0 ? cost_of(kind, tier, rate, target).to_double() : kInfinity;
  TierEstimate estimate{.is_measured = true,
                        .per_second = rate.to_double(),
                        .per_second_p10 = rate.to_double(),
                        .per_second_p90 = rate.to_double(),
                        .probability = is_kept ? 1.0 : 0.0,
                        .cost = cost,
                        .cost_mean = is_kept ? cost : kInfinity,
                        .costs = is_kept ? std::vector{cost} : std::vector<double>()};
  for (const TierPoint& point : points) {
    const bool is_best =
        kind == TierKind::kServices && is_usable(point, target.latency_ms) && point.samples_per_second == rate;
    if (is_best && estimate.latency_ms == 0) estimate.latency_ms = point.latency_ms.to_double();
  }
  return estimate;
}

class SpreadEstimates {
 public:
  SpreadEstimates(const TierTable& table, RatioPredictor predict, Covariance covariance)
      : table_(table), predict_(std::move(predict)), covariance_(std::move(covariance)) {}

  [[nodiscard]] std::vector<TierEstimate> estimate(const TierWorkload& known, const TierTarget& target) const {
    const std::size_t anchor = first_known(known).value();
    std::vector<std::pair<std::size_t, double>> residuals;
    for (std::size_t tier = anchor + 1; tier < table_.tiers.size(); ++tier) {
      const auto residual = residual_of(table_.kind, predict_, known, anchor, tier, known.points[tier]);
      if (residual) residuals.emplace_back(tier, *residual);
    }
    std::vector<TierEstimate> estimates;
    estimates.reserve(table_.tiers.size());
    for (std::size_t tier = 0; tier < table_.tiers.size(); ++tier) {
      estimates.push_back(known.points[tier].empty()
                              ? predicted(known, anchor, tier, target, spread_given(covariance_, tier, residuals))
                              : measured_estimate(table_.kind, table_.tiers[tier], known.points[tier], target));
    }
    return estimates;
  }

 private:
  [[nodiscard]] TierEstimate predicted(const TierWorkload& known, std::size_t anchor, std::size_t tier,
                                       const TierTarget& target, const Spread& spread) const {
    std::vector<PredictedPoint> points;
    points.reserve(known.points[anchor].size());
    for (const TierPoint& point : known.points[anchor]) {
      const double ratio =
          std::exp(predict_({.known = &known, .anchor = anchor, .tier = tier, .point = &point}) + spread.mean);
      points.push_back(
          {.rate = point.samples_per_second.to_double() * ratio, .latency_ms = point.latency_ms.to_double() / ratio});
    }
    return PredictedTier(table_.kind, table_.tiers[tier], target, std::move(points), spread.deviation).estimate();
  }

  const TierTable& table_;
  RatioPredictor predict_;
  Covariance covariance_;
};

Workloads not_of(const Workloads& workloads, std::span<const std::string> groups) {
  Workloads others;
  for (const TierWorkload* workload : workloads) {
    if (std::ranges::find(groups, workload->group) == groups.end()) others.push_back(workload);
  }
  return others;
}

std::vector<std::string> groups_of(const Workloads& workloads) {
  std::vector<std::string> groups;
  groups.reserve(workloads.size());
  for (const TierWorkload* workload : workloads) groups.push_back(workload->group);
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

std::vector<std::optional<double>> residuals_of(const TierTable& table, const RatioPredictor& predict,
                                                const TierWorkload& workload) {
  const std::size_t anchor = first_known(workload).value();
  TierWorkload known = workload;
  for (std::size_t tier = anchor + 1; tier < known.points.size(); ++tier) known.points[tier].clear();
  std::vector<std::optional<double>> residuals(table.tiers.size());
  for (std::size_t tier = anchor + 1; tier < table.tiers.size(); ++tier) {
    residuals[tier] = residual_of(table.kind, predict, known, anchor, tier, workload.points[tier]);
  }
  return residuals;
}

}  // namespace

const TierPoint* same_point(TierKind kind, const std::vector<TierPoint>& points, const TierPoint& point) {
  if (kind == TierKind::kJobs) return points.empty() ? nullptr : &points.front();
  const auto found = std::ranges::find_if(
      points, [&](const TierPoint& other) { return other.batch == point.batch && other.processes == point.processes; });
  return found == points.end() ? nullptr : &*found;
}

std::vector<double> solve_positive(std::vector<double> matrix, std::vector<double> right_side) {
  const std::size_t size = right_side.size();
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * size + j]; };
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    if (at(pivot, pivot) <= 0) return {};
    for (std::size_t row = pivot + 1; row < size; ++row) {
      const double factor = at(row, pivot) / at(pivot, pivot);
      for (std::size_t column = pivot; column < size; ++column) at(row, column) -= factor * at(pivot, column);
      right_side[row] -= factor * right_side[pivot];
    }
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t column = row + 1; column < size; ++column) right_side[row] -= at(row, column) * right_side[column];
    right_side[row] /= at(row, row);
  }
  return right_side;
}

Result<EstimateFunction> make_spread_estimates(const TierTable& table, std::span<const std::string> groups_left_out,
                                               const RatioLearner& learn) {
  Workloads all;
  all.reserve(table.workloads.size());
  for (const TierWorkload& workload : table.workloads) all.push_back(&workload);
  const Workloads learned_from = not_of(all, groups_left_out);
  const std::vector<std::string> groups = groups_of(learned_from);
  if (groups.size() < 2) return invalid("wanted measurements of at least two other groups to learn from, found fewer");
  Covariance covariance(table.tiers.size());
  const std::size_t step = (learned_from.size() + kSpreadWorkloadsMax - 1) / kSpreadWorkloadsMax;
  for (const std::string& group : groups) {
    const RatioPredictor predict = learn(table, not_of(learned_from, std::span(&group, 1)));
    for (std::size_t i = 0; i < learned_from.size(); i += step) {
      if (learned_from[i]->group == group) covariance.add(residuals_of(table, predict, *learned_from[i]));
    }
  }
  covariance.finish();
  const auto estimates =
      std::make_shared<const SpreadEstimates>(table, learn(table, learned_from), std::move(covariance));
  return EstimateFunction(
      [estimates](const TierWorkload& known, const TierTarget& target) { return estimates->estimate(known, target); });
}

}  // namespace berth::tier
