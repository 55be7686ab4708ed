/// Predicts what a workload attains on tiers where it was not measured, with the spread of that prediction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/result.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// What is believed of a workload on one tier for one target.
struct TierEstimate {
  bool is_measured = false;
  double per_second = 0;  ///< median of what is attained; exact where measured
  double per_second_p10 = 0;
  double per_second_p90 = 0;
  double latency_ms = 0;   ///< services: of the best usable point, at the median; 0: none is usable, or a job
  double probability = 0;  ///< of keeping the target, in [0, 1]; 0 or 1 where measured
  double cost = 0;         ///< at the median, as `cost_of` counts it; infinity where nothing is attained
  double cost_mean = 0;    ///< expected, where it keeps the target; infinity where it never does
  /// Equally likely costs where it keeps the target, cheapest last; one where measured, none where it never keeps it.
  std::vector<double> costs = {};
};

/// What a feature adds to the logarithm of the predicted ratio to the anchor; or its share of a forest's gain.
struct FeatureShare {
  std::string feature;
  double share = 0;
};

struct EstimatorSettings {
  std::uint64_t seed = 1;
  int trees = 100;
  double forest_share = 0.5;  ///< of the prediction, in [0, 1]; the rest is a ridge. 0: the ridge alone
};

/// How often what was left out was within a central interval of its prediction.
struct Coverage {
  double stated = 0;
  double found = 0;  ///< each group counting 1
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// What an estimator was trained on, and how far off it was there.
struct TrainingFigures {
  std::vector<std::string> groups = {};  ///< sorted
  std::size_t workload_count = 0;
  std::size_t row_count = 0;            ///< pairs of an anchor and a tier, by workload and size
  double error_median = 0;              ///< of |log(predicted / measured)|, by leaving groups out
  std::vector<Coverage> coverage = {};  ///< by leaving groups out, with nothing but the anchor known
  friend bool operator==(const TrainingFigures&, const TrainingFigures&) = default;
};

/// The logarithm of throughput on a tier over that on the anchor: a forest averaged with a ridge, and a spread from
/// residuals by leaving groups out, correlated between tiers. Immutable; copies are cheap.
class Estimator {
 public:
  Estimator(const Estimator&);
  Estimator& operator=(const Estimator&);
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;
  ~Estimator();

  /// Learns from the workloads of a table whose group is none of `groups_left_out`. The same table and settings give
  /// the same bytes. Errors: kInvalidInput if no workload with rows on two
  /// tiers is left. With one group all predictions are as uncertain as its own ratios are large.
  [[nodiscard]] static Result<Estimator> train(const TierTable& table, std::span<const std::string> groups_left_out,
                                               const EstimatorSettings& settings);

  /// Of each tier of `tiers`, by index, for one target. `known` holds the rows that are known, of all tiers or of some;
  /// it has at least one non-empty list. The anchor is the cheapest tier with rows. Tiers with rows are not
  /// predicted. Requires: tiers are those that it was trained with (see `tiers()`).
  [[nodiscard]] std::vector<TierEstimate> estimate(const TierWorkload& known, const TierTarget& target) const;
  /// Contributions to the prediction for one tier, largest first; they add up to the logarithm of the predicted ratio.
  /// Of services: at the size of work with the most throughput on the anchor. Beside features: "mean", and "measured"
  /// for what rows on other tiers than the anchor change. Empty where the tier has rows.
  [[nodiscard]] std::vector<FeatureShare> explain(const TierWorkload& known, std::size_t tier) const;

  [[nodiscard]] const std::vector<Tier>& tiers() const;
  [[nodiscard]] TierKind kind() const;
  /// Of all features in the forest for more expensive tiers, largest first; they add up to 1, or are 0 where it has no
  /// split. Empty without a forest.
  [[nodiscard]] std::vector<FeatureShare> gains() const;
  [[nodiscard]] const TrainingFigures& trained_on() const;

  /// As the content of a file, and back. Errors of `read`: FILE, what was wanted, what was found.
  [[nodiscard]] std::string write() const;
  [[nodiscard]] static Result<Estimator> read(std::string_view content, std::string_view file);

 private:
  struct Learned;
  class Known;
  explicit Estimator(std::shared_ptr<const Learned> learned);
  std::shared_ptr<const Learned> learned_;
};

}  // namespace berth::tier
