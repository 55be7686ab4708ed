/// What is learned from a table: one row per workload, anchor, other tier and size.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tier/estimate/detail/features.h"
#include "tier/estimate/detail/ridge.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Where a row comes from.
struct RowOrigin {
  std::size_t workload = 0;  ///< of the table
  std::size_t group = 0;     ///< of TrainingRows::groups
  std::size_t anchor = 0;
  std::size_t tier = 0;
  WorkSize size = {};
};

struct TrainingRows {
  LearningRows learning = {};
  std::vector<RowOrigin> origins = {};   ///< by row; ordered by workload, anchor, tier
  std::vector<std::string> groups = {};  ///< that have rows, sorted
  std::size_t workload_count = 0;        ///< that have rows
};

/// Every tier with rows is an anchor for all others, so that a workload that does not fit on the cheapest tier, or was
/// measured on an expensive one, has examples too. Weights are between equal rows and equal groups: (mean rows of a
/// group / rows of the group)^(1/2). Of more than kTrainingRowsMax rows every k-th is taken.
[[nodiscard]] TrainingRows training_rows(const TierTable& table, std::span<const std::string> groups_left_out);

inline constexpr std::size_t kTrainingRowsMax = 20'000;

}  // namespace berth::tier
