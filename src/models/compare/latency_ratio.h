/// How the times of two models that were measured in turn compare.
#pragma once

#include <span>
#include <vector>

namespace berth::models {

/// 95 % interval of how the times of the variant compare with the original's: below 1 the variant is faster.
struct LatencyRatio {
  double ratio = 1;
  double low = 1;
  double high = 1;

  friend bool operator==(const LatencyRatio&, const LatencyRatio&) = default;
};

/// The middle value; of an even number, the mean of the two. Requires: not empty.
[[nodiscard]] double median_of(std::vector<double> values);

/// From rounds that measured both: round i gave original_us[i] and variant_us[i]. The ratio is the median of the ratios
/// of the rounds, so that what slows down both for a while does not matter. Its interval holds for any distribution:
/// from the k-th smallest to the k-th largest ratio, with the largest k for which the sign test gives each side at most
/// 2.5 % (Conover, Practical Nonparametric Statistics, 3.2). With 5 rounds these are the smallest and the largest, and
/// it is 93.75 %.
///
/// No randomness: the same times give the same interval. Requires: equal lengths of at least 5, all above 0.
[[nodiscard]] LatencyRatio latency_ratio(std::span<const double> original_us, std::span<const double> variant_us);

}  // namespace berth::models
