#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/ranges/range_rules.h"

namespace berth::models {
namespace {

/// Whole numbers times powers of two: sums of squares are exact, so that statistics are equal bit by bit.
std::vector<float> some_values() {
  std::vector<float> values;
  const int shift = *rc::gen::inRange(-8, 9);
  for (const int value : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1001))) {
    values.push_back(std::ldexp(static_cast<float>(value), shift));
  }
  return values;
}

QuantizedType some_type() {
  return {.is_signed = *rc::gen::arbitrary<bool>(),
          .bits = *rc::gen::element(7, 8),
          .is_symmetric = *rc::gen::arbitrary<bool>()};
}

RangeStatistics statistics_of_values(const std::vector<float>& values) {
  RangeStatistics statistics;
  statistics.add(values);
  return statistics;
}

RC_GTEST_PROP(RangesProperty, StatisticsDoNotDependOnTheOrderOfValues, ()) {
  const std::vector<float> first = some_values();
  const std::vector<float> second = some_values();
  std::vector<float> all = second;
  all.insert(all.end(), first.begin(), first.end());
  RangeStatistics merged = statistics_of_values(first);
  merged.merge(statistics_of_values(second));
  RC_ASSERT(merged == statistics_of_values(all));
}

RC_GTEST_PROP(RangesProperty, EveryValueIsCountedInItsBin, ()) {
  const std::vector<float> values = some_values();
  std::uint64_t count = 0;
  for (const RangeStatistics::Bin& bin : statistics_of_values(values).bins()) {
    count += bin.count;
    RC_ASSERT(std::ranges::count_if(values, [&](float value) {
                return value != 0 && value >= bin.low && value < bin.low + bin.width;
              }) == static_cast<std::ptrdiff_t>(bin.count));
  }
  RC_ASSERT(count + statistics_of_values(values).zero_count() == values.size());
}

RC_GTEST_PROP(RangesProperty, ZeroIsExactAndValuesInRangeAreWithinHalfAStep, ()) {
  const auto a = static_cast<float>(*rc::gen::inRange(-100000, 100001)) / 64;
  const auto b = static_cast<float>(*rc::gen::inRange(-100000, 100001)) / 64;
  const Range range = {.min = std::min(a, b), .max = std::max(a, b)};
  const QuantizedType type = some_type();
  const Quantization quantization = quantization_of(range, type);
  RC_ASSERT(quantization.scale > 0);
  RC_ASSERT(quantization.zero_point >= type.integer_min() && quantization.zero_point <= type.integer_max());
  RC_ASSERT(quantized(0, quantization, type) == quantization.zero_point);
  for (int i = 0; i <= 10; ++i) {
    const double value = range.min + (static_cast<double>(range.max) - range.min) * i / 10;
    const double back = dequantized(quantized(value, quantization, type), quantization);
    // Near an end, the rounding of the zero point may add half a step.
    const bool is_near_end = value < range.min + quantization.scale || value > range.max - quantization.scale;
    RC_ASSERT(std::abs(value - back) <= (is_near_end ? 1.001 : 0.501) * quantization.scale);
  }
}

RC_GTEST_PROP(RangesProperty, RangesLieWithinTheValuesAndBestIsTheBest, ()) {
  const RangeStatistics statistics = statistics_of_values(some_values());
  const QuantizedType type = some_type();
  const double least = squared_error(statistics, range_of(statistics, RangeRule::kBest, type), type);
  for (const RangeRecipe& recipe : range_recipes()) {
    const Range range = range_of(statistics, recipe, type);
    RC_ASSERT(range.min <= 0 && range.max >= 0);
    if (recipe.rule == RangeRule::kMinMax) continue;
    RC_ASSERT(range.min >= std::min(0.0F, statistics.min()) && range.max <= std::max(0.0F, statistics.max()));
  }
  for (const RangeRule rule : {RangeRule::kMinMax, RangeRule::kPercentile}) {
    RC_ASSERT(least <= squared_error(statistics, range_of(statistics, rule, type), type));
  }
}

}  // namespace
}  // namespace berth::models
