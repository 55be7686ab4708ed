/// What is believed of each tier for one workload and target.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "tier/estimate/estimator.h"
#include "tier/rules/rules_file.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Predictions for a target, by tier, with the costs at a price of 1 USD per hour. Those of tiers with rows are not
/// looked at.
using EstimateAt = std::function<std::vector<TierEstimate>(const TierTarget&)>;

/// What each feature adds to the prediction for a tier.
using ExplainTier = std::function<std::vector<FeatureShare>(std::size_t)>;

/// The question: which tier for this workload and target.
struct ChooseCall {
  TierKind kind = TierKind::kJobs;
  std::vector<Tier> tiers;  ///< sorted by price
  TierWorkload known;       ///< with rows on at least one tier
  TierTarget target;
  std::optional<TierRules> rules = {};
  EstimateAt estimate_at = {};  ///< empty: no forest
  ExplainTier explain = {};     ///< empty: no forest
  double sure = 0.9;            ///< in (0, 1]
};

struct Spread {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  friend bool operator==(const Spread&, const Spread&) = default;
};

struct TierProspect {
  bool is_measured = false;
  std::optional<Spread> per_second = {};  ///< samples or requests of one slice; absent: not known
  /// Services: of one batch at the best usable point; the quantiles are those of the throughput turned around, absent
  /// where that is 0.
  std::optional<double> latency_ms = {};
  std::optional<double> latency_ms_p10 = {};
  std::optional<double> latency_ms_p90 = {};
  std::optional<double> probability = {};  ///< of keeping the target; absent: not known
  /// What the price is multiplied by to give the cost: slices of a service; of a job 1 / samples per second. Absent:
  /// not known, or it does not keep the target at the median.
  std::optional<Decimal> units = {};
  /// Expected of `units`, where it keeps the target; absent: not known, or it never does.
  std::optional<double> units_mean = {};
  std::vector<double> units_drawn = {};      ///< equally likely ones, where it keeps the target
  std::optional<std::string> excluded = {};  ///< why it may not be taken; absent: it may
  friend bool operator==(const TierProspect&, const TierProspect&) = default;

  /// Measured, and it does not keep the target.
  [[nodiscard]] bool is_known_miss() const { return is_measured && probability == 0.0; }
};

/// By tier, for a target that may differ from the call's. Depends on no price.
[[nodiscard]] std::vector<TierProspect> prospects_at(const ChooseCall& call, const TierTarget& target);

/// A finite number as the decimal with twelve significant digits.
[[nodiscard]] Decimal decimal_of(double value);

}  // namespace berth::tier
