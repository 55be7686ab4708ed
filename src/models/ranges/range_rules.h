/// The range of an activation that its integers are spread over: all of its values, or fewer with smaller steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/ranges/quantization.h"
#include "models/ranges/range_statistics.h"

namespace berth::models {

/// kMinMax: all values. kPercentile: leaves out 0.001 % of them, half at each end. kEntropy: loses the least information
/// (Kullback-Leibler divergence of the histogram, as in Migacz, 8-bit Inference with TensorRT, GTC 2017, with both ends
/// drawn in by the same share). kBest: the least squared error of the values.
enum class RangeRule : std::uint8_t { kBest, kMinMax, kPercentile, kEntropy };

/// As in `--ranges`: "best", "min-max", "percentile", "entropy".
[[nodiscard]] std::string_view name_of(RangeRule rule);
/// Nothing if no rule has that name.
[[nodiscard]] std::optional<RangeRule> range_rule_named(std::string_view name);

/// Contains 0, and lies within the least and largest value and 0. The range of no values is [0, 0].
[[nodiscard]] Range range_of(const RangeStatistics& statistics, RangeRule rule, const QuantizedType& type);

/// The range that leaves out `share_left_out` of the values, half at each end. Requires: 0 <= share_left_out < 1.
[[nodiscard]] Range percentile_range(const RangeStatistics& statistics, double share_left_out);

/// Different ranges worth a trial, the one of kBest first, then by rule, then wider and narrower ones.
[[nodiscard]] std::vector<Range> candidate_ranges(const RangeStatistics& statistics, const QuantizedType& type);

/// Sum over all values of the squared difference that quantisation makes, each value taken as the centre of its bin.
[[nodiscard]] double squared_error(const RangeStatistics& statistics, const Range& range, const QuantizedType& type);

}  // namespace berth::models
