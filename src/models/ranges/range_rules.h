/// The range of an activation that its integers are spread over: all of its values, or fewer with smaller steps.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/ranges/quantization.h"
#include "models/ranges/range_statistics.h"

namespace berth::models {

/// kMinMax: all values. kPercentile: leaves out 0.001 % of them, half at each end. kEntropy: loses the least
/// information (Kullback-Leibler divergence of the histogram, as in Migacz, 8-bit Inference with TensorRT, GTC 2017,
/// with both ends drawn in by the same share). kBest: the least squared error of the values.
enum class RangeRule : std::uint8_t { kBest, kMinMax, kPercentile, kEntropy };

/// As in `--ranges`: "best", "min-max", "percentile", "entropy".
[[nodiscard]] std::string_view name_of(RangeRule rule);
/// Nothing if no rule has that name.
[[nodiscard]] std::optional<RangeRule> range_rule_named(std::string_view name);

/// Contains 0, and lies within the least and largest value and 0. The range of no values is [0, 0].
[[nodiscard]] Range range_of(const RangeStatistics& statistics, RangeRule rule, const QuantizedType& type);

/// The range that leaves out `share_left_out` of the values, half at each end. Requires: 0 <= share_left_out < 1.
[[nodiscard]] Range percentile_range(const RangeStatistics& statistics, double share_left_out);

/// A rule with its figures: the same recipe for other statistics gives the range that suits those.
struct RangeRecipe {
  RangeRule rule = RangeRule::kBest;
  double share_left_out = 1e-5;  ///< of kPercentile
  double factor = 1;             ///< of both ends, above 0

  friend auto operator<=>(const RangeRecipe&, const RangeRecipe&) = default;
};

/// As for the rule, times the factor, but within the least and the largest value; with kMinMax also beyond, for values
/// that other rows may have.
[[nodiscard]] Range range_of(const RangeStatistics& statistics, const RangeRecipe& recipe, const QuantizedType& type);

/// Those worth a trial for a single value.
[[nodiscard]] std::span<const RangeRecipe> range_recipes();

/// Sum over all values of the squared difference that quantisation makes, each value taken as the centre of its bin.
[[nodiscard]] double squared_error(const RangeStatistics& statistics, const Range& range, const QuantizedType& type);

}  // namespace berth::models
