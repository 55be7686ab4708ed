#include "models/ranges/range_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

using Bins = std::vector<RangeStatistics::Bin>;

constexpr double kPercentileLeftOut = 1e-5;  // 99.999 %, as ONNX Runtime's quantiser
constexpr std::array kSharesLeftOut = {1e-5, 1e-4, 1e-3, 1e-2};
constexpr int kEntropySteps = 128;  // ranges compared, from 1/128 of the whole to the whole
constexpr double kEntropyBinsPerStep = 2;
constexpr int kGridSteps = 64;  // of one end, in the search for the least squared error
constexpr int kGridRounds = 3;

constexpr std::array<std::pair<RangeRule, std::string_view>, 4> kRuleNames = {{
    {RangeRule::kBest, "best"},
    {RangeRule::kMinMax, "min-max"},
    {RangeRule::kPercentile, "percentile"},
    {RangeRule::kEntropy, "entropy"},
}};

Range whole_range(const RangeStatistics& statistics) {
  return {.min = std::min(0.0F, statistics.min()), .max = std::max(0.0F, statistics.max())};
}

Range scaled(const Range& range, double share_below, double share_above) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return {.min = static_cast<float>(std::max(range.min * share_below, -kLargest)),
          .max = static_cast<float>(std::min(range.max * share_above, kLargest))};
}

double error_of_bins(const Bins& bins, const Range& range, const QuantizedType& type) {
  const Quantization quantization = quantization_of(range, type);
  double sum = 0;
  for (const RangeStatistics::Bin& bin : bins) {
    const double difference = bin.centre() - dequantized(quantized(bin.centre(), quantization, type), quantization);
    sum += static_cast<double>(bin.count) * difference * difference;
  }
  return sum;
}

/// Where, going from the lower end (or the upper one), `left_out` values have been passed, spread evenly in their bin.
double value_after(const Bins& bins, double zero_count, double left_out, bool is_from_above) {
  double passed = 0;
  bool is_zero_passed = false;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const RangeStatistics::Bin& bin = is_from_above ? bins[bins.size() - 1 - i] : bins[i];
    const bool is_beyond_zero = is_from_above ? bin.low < 0 : bin.low >= 0;
    if (is_beyond_zero && !is_zero_passed) {
      is_zero_passed = true;
      passed += zero_count;
      if (passed > left_out) return 0;
    }
    const auto count = static_cast<double>(bin.count);
    if (passed + count > left_out) {
      const double share = (left_out - passed) / count;
      return is_from_above ? bin.low + bin.width * (1 - share) : bin.low + bin.width * share;
    }
    passed += count;
  }
  return 0;
}

/// The divergence of the histogram from the one that is left after quantisation: the values outside the range are
/// counted at its ends in the former only, and each integer's values are spread evenly over its bins that are not
/// empty. Zeros are left out: they are exact.
double divergence(const Bins& bins, const Range& range, const QuantizedType& type) {
  const Quantization quantization = quantization_of(range, type);
  const auto level_count = static_cast<std::size_t>(type.integer_max() - type.integer_min() + 1);
  std::vector<double> level_mass(level_count, 0);
  std::vector<double> level_bins(level_count, 0);
  std::vector<std::pair<std::size_t, double>> inside;  // level and mass of each bin in the range, in order
  double below = 0;
  double above = 0;
  for (const RangeStatistics::Bin& bin : bins) {
    const auto count = static_cast<double>(bin.count);
    if (bin.centre() < range.min) below += count;
    if (bin.centre() > range.max) above += count;
    if (bin.centre() < range.min || bin.centre() > range.max) continue;
    const auto level = static_cast<std::size_t>(quantized(bin.centre(), quantization, type) - type.integer_min());
    level_mass[level] += count;
    level_bins[level] += 1;
    inside.emplace_back(level, count);
  }
  double kept = 0;
  for (const auto& [level, mass] : inside) kept += mass;
  if (kept == 0) return std::numeric_limits<double>::infinity();
  const double total = kept + below + above;
  double sum = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto& [level, mass] = inside[i];
    const double reference = mass + (i == 0 ? below : 0) + (i + 1 == inside.size() ? above : 0);
    const double approximation = level_mass[level] / level_bins[level] * total / kept;
    sum += reference / total * std::log(reference / approximation);
  }
  return sum;
}

Range entropy_range(const RangeStatistics& statistics, const QuantizedType& type) {
  const Bins bins = statistics.bins();
  const Range whole = whole_range(statistics);
  if (bins.empty()) return whole;
  Range best = whole;
  double least = divergence(bins, whole, type);
  for (int step = kEntropySteps - 1; step > 0; --step) {
    const double share = static_cast<double>(step) / kEntropySteps;
    const Range range = scaled(whole, share, share);
    // Where an integer has one bin or less to itself, the histogram does not show what rounding loses.
    if (quantization_of(range, type).scale < kEntropyBinsPerStep * bins.front().width) break;
    const double found = divergence(bins, range, type);
    if (found < least) {
      least = found;
      best = range;
    }
  }
  return best;
}

/// The better of two, by squared error.
struct LeastError {
  const Bins& bins;
  const QuantizedType& type;
  Range range;
  double error;

  void consider(const Range& candidate) {
    const double found = error_of_bins(bins, candidate, type);
    if (found >= error) return;
    error = found;
    range = candidate;
  }
};

/// Each end in turn is drawn in by steps, so that both are where the other's steps are the smallest they can be.
Range least_error_range(const RangeStatistics& statistics, const QuantizedType& type) {
  const Bins bins = statistics.bins();
  const Range whole = whole_range(statistics);
  LeastError least = {.bins = bins, .type = type, .range = whole, .error = error_of_bins(bins, whole, type)};
  for (const double share : kSharesLeftOut) least.consider(percentile_range(statistics, share));
  for (int step = 1; step <= kGridSteps; ++step) {
    const double share = static_cast<double>(step) / kGridSteps;
    least.consider(scaled(whole, share, share));
  }
  for (int round = 0; round < kGridRounds; ++round) {
    const Range before = least.range;
    for (int step = 0; step <= kGridSteps; ++step) {
      const auto share = static_cast<float>(step) / kGridSteps;
      least.consider({.min = whole.min * share, .max = before.max});
    }
    const float min = least.range.min;
    for (int step = 0; step <= kGridSteps; ++step) {
      const auto share = static_cast<float>(step) / kGridSteps;
      least.consider({.min = min, .max = whole.max * share});
    }
    if (least.range == before) break;
  }
  return least.range;
}

}  // namespace

std::string_view name_of(RangeRule rule) {
  for (const auto& [known, name] : kRuleNames) {
    if (known == rule) return name;
  }
  ENSURE(false);
  return {};
}

std::optional<RangeRule> range_rule_named(std::string_view name) {
  for (const auto& [rule, known] : kRuleNames) {
    if (known == name) return rule;
  }
  return std::nullopt;
}

Range range_of(const RangeStatistics& statistics, RangeRule rule, const QuantizedType& type) {
  switch (rule) {
    case RangeRule::kBest:
      return least_error_range(statistics, type);
    case RangeRule::kMinMax:
      return whole_range(statistics);
    case RangeRule::kPercentile:
      return percentile_range(statistics, kPercentileLeftOut);
    case RangeRule::kEntropy:
      return entropy_range(statistics, type);
  }
  ENSURE(false);
  return {};
}

Range percentile_range(const RangeStatistics& statistics, double share_left_out) {
  ENSURE(share_left_out >= 0 && share_left_out < 1);
  const Range whole = whole_range(statistics);
  const Bins bins = statistics.bins();
  const auto zero_count = static_cast<double>(statistics.zero_count());
  const double left_out = static_cast<double>(statistics.finite_count()) * share_left_out / 2;
  const double min = value_after(bins, zero_count, left_out, false);
  const double max = value_after(bins, zero_count, left_out, true);
  return {.min = std::clamp(static_cast<float>(min), whole.min, 0.0F),
          .max = std::clamp(static_cast<float>(max), 0.0F, whole.max)};
}

Range range_of(const RangeStatistics& statistics, const RangeRecipe& recipe, const QuantizedType& type) {
  const Range whole = whole_range(statistics);
  if (recipe.rule == RangeRule::kMinMax) return scaled(whole, recipe.factor, recipe.factor);
  const Range range = recipe.rule == RangeRule::kPercentile ? percentile_range(statistics, recipe.share_left_out)
                                                            : range_of(statistics, recipe.rule, type);
  const Range other = scaled(range, recipe.factor, recipe.factor);
  return {.min = std::max(other.min, whole.min), .max = std::min(other.max, whole.max)};
}

std::span<const RangeRecipe> range_recipes() {
  static constexpr std::array kRecipes = {
      RangeRecipe{.rule = RangeRule::kBest},
      RangeRecipe{.rule = RangeRule::kMinMax},
      RangeRecipe{.rule = RangeRule::kPercentile, .share_left_out = 1e-5},
      RangeRecipe{.rule = RangeRule::kPercentile, .share_left_out = 1e-4},
      RangeRecipe{.rule = RangeRule::kPercentile, .share_left_out = 1e-3},
      RangeRecipe{.rule = RangeRule::kEntropy},
      RangeRecipe{.rule = RangeRule::kBest, .factor = 0.7},
      RangeRecipe{.rule = RangeRule::kBest, .factor = 0.85},
      RangeRecipe{.rule = RangeRule::kBest, .factor = 1.15},
      RangeRecipe{.rule = RangeRule::kBest, .factor = 1.4},
      RangeRecipe{.rule = RangeRule::kMinMax, .factor = 1.2},
      RangeRecipe{.rule = RangeRule::kMinMax, .factor = 1.5},
  };
  return kRecipes;
}

double squared_error(const RangeStatistics& statistics, const Range& range, const QuantizedType& type) {
  return error_of_bins(statistics.bins(), range, type);
}

}  // namespace berth::models
