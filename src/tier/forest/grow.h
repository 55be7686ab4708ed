/// Training of random forests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/result.h"
#include "tier/forest/forest.h"

namespace berth::tier {

/// One row per target and weight.
struct ForestRows {
  std::size_t feature_count = 0;  ///< >= 1
  std::vector<double> features;   ///< row by row; NaN: unknown
  std::vector<double> targets;    ///< at most 1e12 in size
  std::vector<double> weights;    ///< > 0
};

struct ForestSettings {
  std::uint64_t seed = 1;
  int trees = 100;              ///< >= 1
  int depth_max = 6;            ///< >= 1
  double leaf_weight_min = 2;   ///< sum of the weights of the rows in a leaf, at least
  double rows_share = 0.632;    ///< of the rows, which each tree sees: as many as differ in a bootstrap sample
  double features_share = 0.6;  ///< of the features, among which each split chooses
};

/// Grows the trees by XGBoost in forest mode, in this thread. Errors: kInvalidInput where there are no rows or a value
/// is not finite; kUnavailable with the library's words where it refuses.
[[nodiscard]] Result<Forest> grow_forest(const ForestRows& rows, const ForestSettings& settings);

}  // namespace berth::tier
