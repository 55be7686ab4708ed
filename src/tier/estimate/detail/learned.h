/// Everything that an estimator has learned, as one value.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "tier/estimate/detail/log_ratio_model.h"
#include "tier/estimate/detail/spread.h"
#include "tier/estimate/estimator.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

struct Estimator::Learned {
  TierKind kind = TierKind::kJobs;
  std::vector<Tier> tiers = {};
  LogRatioModels models = {};
  Spread spread = {};
  /// Of the largest rows at once on a tier to those on an anchor, [anchor][tier]: median of workloads; 1 without one.
  std::vector<double> room = {};
  TrainingFigures figures = {};
  friend bool operator==(const Learned&, const Learned&) = default;

  /// See Estimator::train.
  [[nodiscard]] static Result<Learned> learn(const TierTable& table, std::span<const std::string> groups_left_out,
                                             const EstimatorSettings& settings);
  [[nodiscard]] std::string bytes() const;
  /// Errors: the bytes are not those of such a value.
  [[nodiscard]] static Result<Learned> of_bytes(std::string_view bytes);
};

}  // namespace berth::tier
