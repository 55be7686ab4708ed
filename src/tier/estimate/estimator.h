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
};

/// What a feature adds to the logarithm of the predicted ratio to the anchor.
struct FeatureShare {
  std::string feature;
  double share = 0;
};

struct EstimatorSettings {
  std::uint64_t seed = 1;
  int trees = 100;
};

/// A forest with its spread. Immutable; copies are cheap.
class Estimator {
 public:
  Estimator(const Estimator&);
  Estimator& operator=(const Estimator&);
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;
  ~Estimator();

  /// Learns from the workloads of a table whose group is none of `groups_left_out`. The same table and settings give
  /// the same bytes. Errors: kInvalidInput if fewer than two groups or two tiers are left.
  [[nodiscard]] static Result<Estimator> train(const TierTable& table, std::span<const std::string> groups_left_out,
                                               const EstimatorSettings& settings);

  /// Of each tier of `tiers`, by index, for one target. `known` holds the rows that are known, of all tiers or of some;
  /// it has at least one non-empty list. The anchor is the cheapest tier with rows. Tiers with rows are not
  /// predicted. Requires: tiers are those that it was trained with (see `tiers()`).
  [[nodiscard]] std::vector<TierEstimate> estimate(const TierWorkload& known, const TierTarget& target) const;
  /// Contributions to the prediction for one tier, largest first; they add up to the logarithm of the predicted ratio.
  [[nodiscard]] std::vector<FeatureShare> explain(const TierWorkload& known, std::size_t tier) const;

  [[nodiscard]] const std::vector<Tier>& tiers() const;
  [[nodiscard]] TierKind kind() const;

  /// As the content of a file, and back. Errors of `read`: FILE, what was wanted, what was found.
  [[nodiscard]] std::string write() const;
  [[nodiscard]] static Result<Estimator> read(std::string_view content, std::string_view file);

 private:
  struct Learned;
  explicit Estimator(std::shared_ptr<const Learned> learned);
  std::shared_ptr<const Learned> learned_;
};

}  // namespace berth::tier
