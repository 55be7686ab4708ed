/// How much faster a service is on slices where it was not measured, by a file of `berth tier train`.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/core/result.h"
#include "domain/values/performance.h"
#include "domain/values/tier_rule.h"
#include "tier/estimate/estimator.h"

namespace berth::tier {

using SliceName = std::pair<std::string, std::string>;  ///< GPU model and profile

/// The logarithm of a speed-up, normal.
struct LogSpeedUp {
  double mean = 0;
  double spread = 0;  ///< its deviation
};

/// The speed-ups of slices over one whose rows are known.
struct ForestSpeeds {
  SliceName over;
  std::map<SliceName, LogSpeedUp> of;
};

/// By the median, and the quantiles 0.1 and 0.9, of what the service attains without a latency target on each tier of
/// the estimator that names a slice; over the cheapest such tier with known rows. Nothing if there is none.
[[nodiscard]] std::optional<ForestSpeeds> forest_speeds(const Estimator& estimator, const PerformanceTable& all,
                                                        std::span<const std::string> known_on);

/// The estimator of `tier_model`; nothing where none is stated. Errors name the file: damaged content, or a file that
/// was trained on jobs.
[[nodiscard]] Result<std::optional<Estimator>> read_tier_model(const TierSettings& settings);

}  // namespace berth::tier
