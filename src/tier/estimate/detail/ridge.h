/// The linear part of a prediction: a ridge regression on terms made from the features.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tier/estimate/detail/features.h"

namespace berth::tier {

/// What a model learns from. All of one length.
struct LearningRows {
  std::vector<FeatureRow> features;
  std::vector<double> targets;
  std::vector<double> weights;  ///< > 0
};

/// The rows for which `wanted` is true.
[[nodiscard]] LearningRows rows_where(const LearningRows& rows, const std::vector<bool>& wanted);

/// Terms: one per tier and per anchor (0 or 1), the ratios, the workload's figures on the anchor and in its graph, and
/// these times the ratio of prices: how much a larger tier gives depends on the workload. Standardised; unknown: mean.
struct Ridge {
  std::size_t tier_count = 0;
  double mean = 0;  ///< of the targets
  std::vector<double> term_means = {};
  std::vector<double> term_scales = {};  ///< 0: the term is constant or unknown everywhere, and counts nothing
  std::vector<double> slopes = {};
  friend bool operator==(const Ridge&, const Ridge&) = default;
};

/// Minimises the weighted squared error + `penalty` x the squares of the slopes. O(rows x terms^2). Requires: rows is
/// not empty, penalty > 0.
[[nodiscard]] Ridge fit_ridge(const LearningRows& rows, std::size_t tier_count, double penalty);

[[nodiscard]] double predict(const Ridge& ridge, const FeatureRow& row);
/// What each feature adds to `mean`, by Feature; a product counts for the figure that is not the price.
[[nodiscard]] std::vector<double> shares_of(const Ridge& ridge, const FeatureRow& row);
/// Whether all lists have the length that its tiers need, and no figure is above 1e12 or a scale below 1e-12.
[[nodiscard]] bool is_well_formed(const Ridge& ridge);

}  // namespace berth::tier
