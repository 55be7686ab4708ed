/// How the times of two models that were measured in turn compare.
#pragma once

#include <span>

namespace berth::models {

/// 95 % interval of the ratio of the medians, variant / original: below 1 the variant is faster.
struct LatencyRatio {
  double ratio = 1;
  double low = 1;
  double high = 1;

  friend bool operator==(const LatencyRatio&, const LatencyRatio&) = default;
};

/// From rounds that measured both: round i gave original_us[i] and variant_us[i]. Requires: equal lengths of at least
/// 5, all above 0. No randomness: the same times give the same interval.
[[nodiscard]] LatencyRatio latency_ratio(std::span<const double> original_us, std::span<const double> variant_us);

}  // namespace berth::models
