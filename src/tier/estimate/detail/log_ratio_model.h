/// The logarithm of the throughput on a tier over that on the anchor: a forest and a ridge, averaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/result.h"
#include "tier/estimate/detail/features.h"
#include "tier/estimate/detail/ridge.h"
#include "tier/forest/forest.h"

namespace berth::tier {

struct LogRatioSettings {
  std::uint64_t seed = 1;
  int trees = 100;
  double forest_share = 0.5;  ///< in [0, 1]; 0: no forest is grown
};

/// Of one direction: from anchors to more expensive tiers, or to cheaper ones.
struct LogRatioModel {
  double forest_share = 0.5;
  Forest forest = {};
  Ridge ridge = {};
  friend bool operator==(const LogRatioModel&, const LogRatioModel&) = default;
};

/// Errors: those of `grow_forest`.
[[nodiscard]] Result<LogRatioModel> fit_log_ratio(const LearningRows& rows, std::size_t tier_count,
                                                  const LogRatioSettings& settings);
[[nodiscard]] double predict(const LogRatioModel& model, const FeatureRow& row);
/// What each feature adds, by Feature, and last the mean: they add up to the prediction.
[[nodiscard]] std::vector<double> shares_of(const LogRatioModel& model, const FeatureRow& row);

/// Both directions. What a larger tier gives beyond the anchor and what a smaller one keeps of it are different
/// questions: one model of both answers the first one worse.
struct LogRatioModels {
  LogRatioModel up = {};
  LogRatioModel down = {};
  friend bool operator==(const LogRatioModels&, const LogRatioModels&) = default;

  [[nodiscard]] const LogRatioModel& of(const FeatureRow& row) const { return is_upward(row) ? up : down; }
};

/// Requires: rows of both directions.
[[nodiscard]] Result<LogRatioModels> fit_both(const LearningRows& rows, std::size_t tier_count,
                                              const LogRatioSettings& settings);
[[nodiscard]] double predict(const LogRatioModels& models, const FeatureRow& row);

}  // namespace berth::tier
