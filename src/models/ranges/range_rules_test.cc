#include "models/ranges/range_rules.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/core/rng.h"

namespace berth::models {
namespace {

constexpr QuantizedType kUint8 = {};

RangeStatistics statistics_of_floats(const std::vector<float>& values) {
  RangeStatistics statistics;
  statistics.add(values);
  return statistics;
}

/// About normal, of deviation 1: the sum of twelve uniform values.
std::vector<float> bell_values(std::size_t count) {
  Rng rng(7);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = -6;
    for (int j = 0; j < 12; ++j) sum += rng.unit();
    values.push_back(static_cast<float>(sum));
  }
  return values;
}

TEST(RangeRule, NamesAreThoseOfTheOption) {
  for (const auto rule : {RangeRule::kBest, RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kEntropy}) {
    EXPECT_EQ(range_rule_named(name_of(rule)), rule);
  }
  EXPECT_EQ(name_of(RangeRule::kMinMax), "min-max");
  EXPECT_FALSE(range_rule_named("largest"));
}

TEST(RangeRule, MinMaxIsWidenedToZero) {
  EXPECT_EQ(range_of(statistics_of_floats({-2, 5}), RangeRule::kMinMax, kUint8), (Range{.min = -2, .max = 5}));
  EXPECT_EQ(range_of(statistics_of_floats({2, 5}), RangeRule::kMinMax, kUint8), (Range{.min = 0, .max = 5}));
  EXPECT_EQ(range_of(statistics_of_floats({}), RangeRule::kMinMax, kUint8), Range{});
}

TEST(RangeRule, EveryRuleHoldsForNothingAndForOneValue) {
  for (const auto rule : {RangeRule::kBest, RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kEntropy}) {
    EXPECT_EQ(range_of(statistics_of_floats({}), rule, kUint8), Range{});
    EXPECT_EQ(range_of(statistics_of_floats({0, 0}), rule, kUint8), Range{});
    const Range one = range_of(statistics_of_floats({-4}), rule, kUint8);
    EXPECT_NEAR(one.min, -4, 0.07) << name_of(rule);
    EXPECT_EQ(one.max, 0);
  }
}

TEST(PercentileRange, LeavesOutTheSameNumberAtEachEnd) {
  std::vector<float> values;
  for (int i = -500; i <= 500; ++i) values.push_back(static_cast<float>(i));
  const RangeStatistics statistics = statistics_of_floats(values);
  EXPECT_EQ(percentile_range(statistics, 0), (Range{.min = -500, .max = 500}));
  const Range range = percentile_range(statistics, 0.2);  // about 100 values at each end
  EXPECT_NEAR(range.min, -400, 0.2);
  EXPECT_NEAR(range.max, 400, 0.2);
}

TEST(PercentileRange, ZerosAreValuesToo) {
  std::vector<float> values(100, 0.0F);
  for (int i = 1; i <= 10; ++i) values.push_back(static_cast<float>(i));
  const Range half = percentile_range(statistics_of_floats(values), 0.5);
  EXPECT_EQ(half, Range{});
  const Range few = percentile_range(statistics_of_floats(values), 0.1);  // 5.5 at each end
  EXPECT_EQ(few.min, 0);
  EXPECT_NEAR(few.max, 5, 0.01);
}

TEST(RangeRule, PercentileLeavesOutAnOutlierAmongManyValues) {
  std::vector<float> values = bell_values(400000);
  values.push_back(1000);
  const Range range = range_of(statistics_of_floats(values), RangeRule::kPercentile, kUint8);
  EXPECT_LT(range.max, 10);
  EXPECT_GT(range.max, 3);
}

TEST(RangeRule, EntropyKeepsAllOfAnEvenDistribution) {
  std::vector<float> values;
  for (int i = -4096; i < 4096; ++i) values.push_back(static_cast<float>(i) / 4096);
  const Range range = range_of(statistics_of_floats(values), RangeRule::kEntropy, kUint8);
  EXPECT_LT(range.min, -0.97);
  EXPECT_GT(range.max, 0.97);
}

TEST(RangeRule, EntropyLeavesOutRareOutliers) {
  std::vector<float> values = bell_values(100000);
  values.insert(values.end(), {40, -40});
  const Range range = range_of(statistics_of_floats(values), RangeRule::kEntropy, kUint8);
  EXPECT_LT(range.max, 12);
  EXPECT_GT(range.max, 2.5);
}

TEST(RangeRule, BestCutsOffTheTailsOfABell) {
  const RangeStatistics statistics = statistics_of_floats(bell_values(200000));
  const Range best = range_of(statistics, RangeRule::kBest, kUint8);
  // The least error of 256 even steps for a normal distribution is near 3.9 to 4 deviations (Max, 1960); this bell has
  // thinner tails.
  EXPECT_NEAR(best.max, 3.9, 0.3);
  EXPECT_NEAR(best.min, -3.9, 0.3);
}

TEST(RangeRule, BestKeepsAnOutlierThatItWouldBeWorseToCutOff) {
  // One of 1000 values is 50 times as large: cutting it off costs more than the smaller steps gain.
  std::vector<float> values = bell_values(1000);
  values.push_back(50);
  const Range best = range_of(statistics_of_floats(values), RangeRule::kBest, kUint8);
  EXPECT_GT(best.max, 45);
}

TEST(SquaredError, ByHand) {
  // Steps of 1: 0.25 is rounded to 0, 300 is cut to 255; values lie at the centres of bins.
  const RangeStatistics statistics = statistics_of_floats({0.25, 0.25, 300, 0});
  const double error = squared_error(statistics, {.min = 0, .max = 255}, kUint8);
  const double bin = 512.0 / 4096;
  EXPECT_NEAR(error, 2 * (0.25 + bin / 2) * (0.25 + bin / 2) + (45 + bin / 2) * (45 + bin / 2), 1e-9);
}

TEST(RangeRecipe, IsTheRuleTimesTheFactor) {
  const RangeStatistics statistics = statistics_of_floats({-2, 8});
  const auto range = [&](double factor) {
    return range_of(statistics, RangeRecipe{.rule = RangeRule::kMinMax, .factor = factor}, kUint8);
  };
  EXPECT_EQ(range(1), (Range{.min = -2, .max = 8}));
  EXPECT_EQ(range(0.5), (Range{.min = -1, .max = 4}));
  EXPECT_EQ(range(2), (Range{.min = -4, .max = 16}));
  const Range best = range_of(statistics, RangeRecipe{.factor = 2}, kUint8);
  EXPECT_EQ(best, (Range{.min = -2, .max = 8}));
}

TEST(RangeRecipe, OfAPercentile) {
  std::vector<float> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<float>(i));
  const RangeRecipe recipe = {.rule = RangeRule::kPercentile, .share_left_out = 0.2};
  EXPECT_NEAR(range_of(statistics_of_floats(values), recipe, kUint8).max, 900, 0.5);
}

TEST(RangeRecipe, ThoseWorthATrialDiffer) {
  const std::span<const RangeRecipe> recipes = range_recipes();
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(recipes[i], recipes[j]);
  }
}

}  // namespace
}  // namespace berth::models
