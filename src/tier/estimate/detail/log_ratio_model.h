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

}  // namespace berth::tier
