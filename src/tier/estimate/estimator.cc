#include "tier/estimate/estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"
#include "tier/estimate/detail/features.h"
#include "tier/estimate/detail/forest_file.h"
#include "tier/estimate/detail/known_curve.h"
#include "tier/estimate/detail/learned.h"
#include "tier/estimate/detail/outlook.h"
#include "tier/estimate/detail/spread.h"
#include "tier/values/attained.h"

namespace berth::tier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Batches are doubled beyond the largest known one as often at most.
constexpr int kDoublingsMax = 10;
constexpr int kBatchMax = 1'000'000'000;

/// The exact figures of a tier with rows.
TierEstimate measured_estimate(TierKind kind, const Tier& tier, std::span<const TierPoint> points,
                               const TierTarget& target) {
  const Decimal most = attained(kind, points, target).value_or(Decimal(0));
  const double per_second = most.to_double();
  TierEstimate estimate{.is_measured = true,
                        .per_second = per_second,
                        .per_second_p10 = per_second,
                        .per_second_p90 = per_second,
                        .probability = keeps(kind, most, target) ? 1.0 : 0.0,
                        .cost = kInfinity,
                        .cost_mean = kInfinity};
  for (const TierPoint& point : points) {
    if (kind == TierKind::kServices && is_usable(point, target.latency_ms) && point.samples_per_second == most) {
      estimate.latency_ms = point.latency_ms.to_double();
      break;
    }
  }
  if (most.sign() <= 0) return estimate;
  estimate.cost = cost_of(kind, tier, most, target).to_double();
  if (estimate.probability > 0) {
    estimate.cost_mean = estimate.cost;
    estimate.costs = {estimate.cost};
  }
  return estimate;
}

}  // namespace

/// A workload of which some tiers are known: what the others may give.
class Estimator::Known {
 public:
  Known(const Learned& learned, const TierWorkload& workload);

  [[nodiscard]] std::size_t anchor() const { return measured_.front().tier; }
  [[nodiscard]] TierOutlook outlook(std::size_t tier) const;
  [[nodiscard]] std::vector<FeatureShare> shares(std::size_t tier) const;

 private:
  struct Measured {
    std::size_t tier = 0;
    KnownCurve curve;
  };
  [[nodiscard]] const KnownCurve& curve() const { return measured_.front().curve; }
  [[nodiscard]] FeatureRow features(WorkSize size, std::size_t tier) const;
  /// The sizes of the anchor, and larger ones where the tier has room for them.
  [[nodiscard]] std::vector<WorkSize> sizes_on(std::size_t tier) const;
  /// Of the logarithm of the ratio, given what is measured on other tiers than the anchor.
  [[nodiscard]] ResidualBelief residual(WorkSize size, std::size_t tier) const;

  const Learned& learned_;
  const TierWorkload& workload_;
  std::vector<TierLogs> tiers_ = {};
  std::vector<Measured> measured_ = {};
};

Estimator::Known::Known(const Learned& learned, const TierWorkload& workload) : learned_(learned), workload_(workload) {
  for (const Tier& tier : learned.tiers) tiers_.push_back(logs_of(tier));
  for (std::size_t tier = 0; tier < workload.points.size(); ++tier) {
    if (!workload.points[tier].empty()) measured_.push_back({.tier = tier, .curve = KnownCurve(workload.points[tier])});
  }
  ENSURE(!measured_.empty());
}

FeatureRow Estimator::Known::features(WorkSize size, std::size_t tier) const {
  return feature_row(tiers_, {.curve = &curve(), .graph = &workload_.graph, .anchor = anchor()}, size, tier);
}

std::vector<WorkSize> Estimator::Known::sizes_on(std::size_t tier) const {
  std::vector<WorkSize> sizes = curve().sizes();
  if (learned_.kind == TierKind::kJobs) return {sizes.front()};
  const double rows_max = curve().rows_max() * learned_.room[anchor() * tiers_.size() + tier];
  const std::size_t known_count = sizes.size();
  for (std::size_t i = 0; i < known_count; ++i) {
    const bool is_largest = i + 1 == known_count || sizes[i + 1].processes != sizes[i].processes;
    WorkSize size = sizes[i];
    for (int k = 0; is_largest && k < kDoublingsMax; ++k) {
      if (size.batch > kBatchMax / 2 || 2.0 * size.batch * size.processes > rows_max * (1 + 1e-9)) break;
      size.batch *= 2;
      sizes.push_back(size);
    }
  }
  return sizes;
}

ResidualBelief Estimator::Known::residual(WorkSize size, std::size_t tier) const {
  std::vector<SeenResidual> seen;
  for (std::size_t i = 1; i < measured_.size(); ++i) {
    const double ratio = std::log(measured_[i].curve.per_second(size) / curve().per_second(size));
    seen.push_back(
        {.tier = measured_[i].tier, .residual = ratio - predict(learned_.models, features(size, measured_[i].tier))});
  }
  return condition(learned_.spread, anchor(), tier, seen);
}

TierOutlook Estimator::Known::outlook(std::size_t tier) const {
  TierOutlook outlook{.kind = learned_.kind,
                      .usd_per_hour = learned_.tiers[tier].usd_per_hour.to_double(),
                      .latency_factor = curve().latency_factor(),
                      .degrees = learned_.spread.degrees,
                      .sizes = {}};
  for (const WorkSize size : sizes_on(tier)) {
    const ResidualBelief belief = residual(size, tier);
    const double ratio = predict(learned_.models, features(size, tier)) + belief.mean;
    outlook.sizes.push_back({.rows = static_cast<double>(size.batch) * size.processes,
                             .log_per_second = std::log(curve().per_second(size)) + ratio,
                             .deviation = belief.deviation});
  }
  return outlook;
}

std::vector<FeatureShare> Estimator::Known::shares(std::size_t tier) const {
  const WorkSize size = curve().best();
  const FeatureRow row = features(size, tier);
  const std::vector<double> added = shares_of(learned_.models.of(row), row);
  std::vector<FeatureShare> shares;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (added[i] != 0) shares.push_back({.feature = std::string(name_of(static_cast<Feature>(i))), .share = added[i]});
  }
  shares.push_back({.feature = "mean", .share = added.back()});
  if (measured_.size() > 1) shares.push_back({.feature = "measured", .share = residual(size, tier).mean});
  sort_stably(shares, [](const FeatureShare& share) { return -std::fabs(share.share); });
  return shares;
}

Estimator::Estimator(const Estimator&) = default;
Estimator& Estimator::operator=(const Estimator&) = default;
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;
Estimator::~Estimator() = default;
Estimator::Estimator(std::shared_ptr<const Learned> learned) : learned_(std::move(learned)) {}

Result<Estimator> Estimator::train(const TierTable& table, std::span<const std::string> groups_left_out,
                                   const EstimatorSettings& settings) {
  Result<Learned> learned = Learned::learn(table, groups_left_out, settings);
  if (!learned) return pass_on(learned.error());
  return Estimator(std::make_shared<const Learned>(*std::move(learned)));
}

std::vector<TierEstimate> Estimator::estimate(const TierWorkload& known, const TierTarget& target) const {
  ENSURE(known.points.size() == learned_->tiers.size());
  const Known from(*learned_, known);
  std::vector<TierEstimate> estimates;
  estimates.reserve(learned_->tiers.size());
  for (std::size_t tier = 0; tier < learned_->tiers.size(); ++tier) {
    const std::vector<TierPoint>& points = known.points[tier];
    estimates.push_back(points.empty() ? estimate_of(from.outlook(tier), target)
                                       : measured_estimate(learned_->kind, learned_->tiers[tier], points, target));
  }
  return estimates;
}

std::vector<FeatureShare> Estimator::explain(const TierWorkload& known, std::size_t tier) const {
  ENSURE(known.points.size() == learned_->tiers.size() && tier < known.points.size());
  if (!known.points[tier].empty()) return {};
  return Known(*learned_, known).shares(tier);
}

const std::vector<Tier>& Estimator::tiers() const { return learned_->tiers; }
TierKind Estimator::kind() const { return learned_->kind; }
const TrainingFigures& Estimator::trained_on() const { return learned_->figures; }

std::vector<FeatureShare> Estimator::gains() const {
  const Forest& forest = learned_->models.up.forest;
  if (forest.trees().empty()) return {};
  const std::vector<double> gains = forest.gains();
  std::vector<FeatureShare> shares;
  shares.reserve(kFeatureCount);
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    shares.push_back({.feature = std::string(name_of(static_cast<Feature>(i))), .share = gains[i]});
  }
  sort_stably(shares, [](const FeatureShare& share) { return -share.share; });
  return shares;
}

std::string Estimator::write() const { return forest_file(learned_->bytes()); }

Result<Estimator> Estimator::read(std::string_view content, std::string_view file) {
  const Result<std::string_view> bytes = forest_file_bytes(content, file);
  if (!bytes) return pass_on(bytes.error());
  Result<Learned> learned = Learned::of_bytes(*bytes);
  if (!learned) return invalid(std::string(file) + ": " + learned.error().message);
  return Estimator(std::make_shared<const Learned>(*std::move(learned)));
}

}  // namespace berth::tier
