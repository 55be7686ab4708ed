#include "models/compare/latency_ratio.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/core/ensure.h"
#include "models/compare/beta.h"

namespace berth::models {
namespace {

constexpr double kTailMax = 0.025;

/// The largest k so that a median is below the k-th smallest of `count` values (from 1) with at most 2.5 %: the
/// probability that fewer than k of them are below it. At least 1.
std::size_t rank_of_bound(std::size_t count) {
  const auto n = static_cast<double>(count);
  std::size_t rank = 1;
  // P(X <= k) of Binomial(n, 1/2) is I_{1/2}(n - k, k + 1).
  while (rank < count / 2 &&
         incomplete_beta(n - static_cast<double>(rank), static_cast<double>(rank) + 1, 0.5) <= kTailMax) {
    ++rank;
  }
  return rank;
}

}  // namespace

double median_of(std::vector<double> values) {
  ENSURE(!values.empty());
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

LatencyRatio latency_ratio(std::span<const double> original_us, std::span<const double> variant_us) {
  constexpr std::size_t kRoundsMin = 5;
  ENSURE(original_us.size() == variant_us.size() && original_us.size() >= kRoundsMin);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < original_us.size(); ++i) {
    ENSURE(original_us[i] > 0 && variant_us[i] > 0);
    ratios.push_back(variant_us[i] / original_us[i]);
  }
  std::ranges::sort(ratios);
  const std::size_t rank = rank_of_bound(ratios.size());
  return {.ratio = median_of(ratios), .low = ratios[rank - 1], .high = ratios[ratios.size() - rank]};
}

}  // namespace berth::models
