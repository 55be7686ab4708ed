#include "tier/estimate/detail/spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "tier/estimate/detail/linear_system.h"

namespace berth::tier {
namespace {

constexpr double kPriorGroups = 4;
constexpr double kOwnShare = 0.2;
/// The shortest step of the walk.
constexpr double kStepMin = 0.1;
/// Measurements themselves differ by about 1 %.
constexpr double kNoiseVariance = 1e-4;
/// Of the variance, which no measurement of another tier takes away.
constexpr double kVarianceShareMin = 0.02;
/// Of figures in files.
constexpr double kCovarianceMax = 1e12;
constexpr int kDegreesMin = 3;
constexpr int kDegreesMax = 30;

/// Sums over one pair of an anchor and a tier, each group counting 1.
struct PairSums {
  double presence = 0;  ///< sum over groups of the share of sizes that have the tier
  double targets = 0;
  std::size_t groups = 0;
};

class SpreadFit {
 public:
  SpreadFit(const TrainingRows& rows, std::span<const double> residuals, std::size_t tier_count)
      : rows_(rows),
        residuals_(residuals),
        tiers_(tier_count),
        pairs_(tier_count * tier_count),
        products_(tier_count * tier_count * tier_count) {}

  Spread run();

 private:
  struct Entry {
    std::size_t tier = 0;
    double residual = 0;
    double target = 0;
  };
  /// All tiers of one workload and size, seen from one anchor.
  using Sizes = std::map<std::tuple<std::size_t, int, int>, std::vector<Entry>>;

  void add_up();
  void add_up(std::size_t anchor, const Sizes& sizes);
  /// Signed length of the walk from an anchor to a tier.
  [[nodiscard]] double walk(std::size_t anchor, std::size_t tier) const;
  [[nodiscard]] double variance_per_step() const;
  [[nodiscard]] double prior(std::size_t anchor, std::size_t a, std::size_t b) const;

  PairSums& pair(std::size_t anchor, std::size_t tier) { return pairs_[anchor * tiers_ + tier]; }
  [[nodiscard]] const PairSums& pair(std::size_t anchor, std::size_t tier) const {
    return pairs_[anchor * tiers_ + tier];
  }
  [[nodiscard]] std::size_t index(std::size_t anchor, std::size_t a, std::size_t b) const {
    return (anchor * tiers_ + a) * tiers_ + b;
  }

  const TrainingRows& rows_;
  std::span<const double> residuals_;
  std::size_t tiers_;
  std::vector<PairSums> pairs_;
  std::vector<double> products_;  ///< of residuals, [anchor][tier][tier]
};

void SpreadFit::add_up() {
  std::map<std::pair<std::size_t, std::size_t>, Sizes> parts;  // by anchor and group
  for (std::size_t i = 0; i < rows_.origins.size(); ++i) {
    const RowOrigin& origin = rows_.origins[i];
    parts[{origin.anchor, origin.group}][{origin.workload, origin.size.processes, origin.size.batch}].push_back(
        {.tier = origin.tier, .residual = residuals_[i], .target = rows_.learning.targets[i]});
  }
  for (const auto& [key, sizes] : parts) add_up(key.first, sizes);
}

void SpreadFit::add_up(std::size_t anchor, const Sizes& sizes) {
  const double weight = 1 / static_cast<double>(sizes.size());
  std::vector<bool> seen(tiers_);
  for (const auto& [key, entries] : sizes) {
    for (const Entry& a : entries) {
      pair(anchor, a.tier).presence += weight;
      pair(anchor, a.tier).targets += weight * a.target;
      seen[a.tier] = true;
      for (const Entry& b : entries) products_[index(anchor, a.tier, b.tier)] += weight * a.residual * b.residual;
    }
  }
  for (std::size_t tier = 0; tier < tiers_; ++tier) pair(anchor, tier).groups += seen[tier] ? 1U : 0U;
}

double SpreadFit::walk(std::size_t anchor, std::size_t tier) const {
  const PairSums& sums = pair(anchor, tier);
  const double mean = sums.presence > 0 ? sums.targets / sums.presence : 0;
  return std::copysign(std::max(std::fabs(mean), kStepMin), mean);
}

double SpreadFit::variance_per_step() const {
  double squares = 0;
  double steps = 0;
  for (std::size_t anchor = 0; anchor < tiers_; ++anchor) {
    for (std::size_t tier = 0; tier < tiers_; ++tier) {
      squares += products_[index(anchor, tier, tier)];
      steps += pair(anchor, tier).presence * std::fabs(walk(anchor, tier));
    }
  }
  return steps > 0 ? squares / steps : 1;
}

double SpreadFit::prior(std::size_t anchor, std::size_t a, std::size_t b) const {
  const double to_a = walk(anchor, a);
  const double to_b = walk(anchor, b);
  const double common = to_a * to_b > 0 ? std::min(std::fabs(to_a), std::fabs(to_b)) : 0;
  return (1 - kOwnShare) * common + (a == b ? kOwnShare * std::fabs(to_a) : 0);
}

Spread SpreadFit::run() {
  add_up();
  const double per_step = variance_per_step();
  Spread spread{.tier_count = tiers_,
                .degrees = std::clamp(static_cast<int>(rows_.groups.size()) - 1, kDegreesMin, kDegreesMax),
                .covariances = std::vector<double>(products_.size())};
  const auto seen_share = [&](std::size_t anchor, std::size_t tier) {
    const auto groups = static_cast<double>(pair(anchor, tier).groups);
    return groups / (groups + kPriorGroups);
  };
  for (std::size_t anchor = 0; anchor < tiers_; ++anchor) {
    for (std::size_t a = 0; a < tiers_; ++a) {
      for (std::size_t b = 0; b < tiers_; ++b) {
        // Scaling rows and columns alike keeps both parts positive semidefinite, whatever is missing.
        const double presence = std::sqrt(pair(anchor, a).presence * pair(anchor, b).presence);
        const double seen = presence > 0 ? products_[index(anchor, a, b)] / presence : 0;
        const double share_a = seen_share(anchor, a);
        const double share_b = seen_share(anchor, b);
        spread.covariances[index(anchor, a, b)] =
            std::sqrt(share_a * share_b) * seen +
            std::sqrt((1 - share_a) * (1 - share_b)) * per_step * prior(anchor, a, b) + (a == b ? kNoiseVariance : 0);
      }
    }
  }
  return spread;
}

}  // namespace

Spread fit_spread(const TrainingRows& rows, std::span<const double> residuals, std::size_t tier_count) {
  return SpreadFit(rows, residuals, tier_count).run();
}

ResidualBelief condition(const Spread& spread, std::size_t anchor, std::size_t tier,
                         std::span<const SeenResidual> seen) {
  const double variance = spread.covariance(anchor, tier, tier);
  if (seen.empty()) return {.mean = 0, .deviation = std::sqrt(variance)};
  LinearSystem system(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    system.right(i) = spread.covariance(anchor, tier, seen[i].tier);
    for (std::size_t k = 0; k <= i; ++k) system.at(i, k) = spread.covariance(anchor, seen[i].tier, seen[k].tier);
  }
  const std::vector<double> gains = system.solve();
  double mean = 0;
  double explained = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    mean += gains[i] * seen[i].residual;
    explained += gains[i] * spread.covariance(anchor, tier, seen[i].tier);
  }
  return {.mean = mean, .deviation = std::sqrt(std::max(variance - explained, kVarianceShareMin * variance))};
}

bool is_well_formed(const Spread& spread) {
  const std::size_t count = spread.tier_count;
  if (spread.degrees < kDegreesMin || spread.degrees > kDegreesMax) return false;
  if (spread.covariances.size() != count * count * count) return false;
  if (!std::all_of(spread.covariances.begin(), spread.covariances.end(),
                   [](double v) { return std::fabs(v) <= kCovarianceMax; })) {
    return false;
  }
  for (std::size_t anchor = 0; anchor < count; ++anchor) {
    for (std::size_t tier = 0; tier < count; ++tier) {
      if (!(spread.covariance(anchor, tier, tier) >= kNoiseVariance)) return false;
    }
  }
  return true;
}

}  // namespace berth::tier
