#include "purchase/spot/spells.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::purchase {
namespace {

constexpr double kHourSeconds = 3600;
/// Where the classes of age begin, in hours.
constexpr ByAge kClassHours = {0, 1.0 / 6, 0.5, 1, 2, 4, 8, 16};
/// A typical age of the last class, as a multiple of its beginning.
constexpr double kLastClassFactor = 1.5;

// The grid of the prior: initial rates per hour, and times in hours.
constexpr int kRateCount = 6;
constexpr double kRateMin = 1;
constexpr double kRateMax = 4;
constexpr int kTimeCount = 6;
constexpr double kTimeMin = 0.1;
constexpr double kTimeMax = 10;
/// The weight of a tick in the posterior.
constexpr double kTickWeight = 0.5;

/// Nothing is certain: logarithms stay finite.
constexpr double kHazardMin = 1e-9;

/// Value number i of n from `min` to `max`, evenly spaced in logarithms.
double spaced(double min, double max, int i, int n) {
  return min * std::pow(max / min, static_cast<double>(i) / (n - 1));
}

}  // namespace

AgeScale::AgeScale(std::int64_t tick_seconds) : tick_hours_(static_cast<double>(tick_seconds) / kHourSeconds) {
  ENSURE(tick_seconds > 0);
  for (std::size_t k = 0; k < kAgeClasses; ++k) {
    const auto first = static_cast<std::int64_t>(std::llround(kClassHours[k] / tick_hours_));
    firsts_[k] = std::max(first, static_cast<std::int64_t>(k));  // each class has a tick
  }
  for (std::size_t k = 0; k + 1 < kAgeClasses; ++k) widths_[k] = std::max<std::int64_t>(firsts_[k + 1] - firsts_[k], 1);
}

std::size_t AgeScale::class_of(std::int64_t age) const {
  ENSURE(age >= 1);
  std::size_t k = kAgeClasses - 1;
  while (k > 0 && firsts_[k] > age - 1) --k;
  return k;
}

double AgeScale::typical_hours(std::size_t age_class) const {
  const auto first = static_cast<double>(firsts_[age_class]);
  if (age_class + 1 == kAgeClasses) return kLastClassFactor * first * tick_hours_;
  return (first + static_cast<double>(widths_[age_class]) / 2) * tick_hours_;
}

SpellLearner::SpellLearner(std::int64_t tick_seconds) : scale_(tick_seconds) {
  cells_.reserve(static_cast<std::size_t>(kRateCount) * kTimeCount);
  for (int i = 0; i < kRateCount; ++i) {
    for (int j = 0; j < kTimeCount; ++j) {
      const double rate = spaced(kRateMin, kRateMax, i, kRateCount);
      const double time = spaced(kTimeMin, kTimeMax, j, kTimeCount);
      ByAge cell{};
      for (std::size_t k = 0; k < kAgeClasses; ++k) {
        const double rate_at_age = rate / (1 + scale_.typical_hours(k) / time);
        cell[k] = std::clamp(-std::expm1(-rate_at_age * scale_.tick_hours()), kHazardMin, 1 - kHazardMin);
      }
      cells_.push_back(cell);
    }
  }
}

void SpellLearner::observe(bool is_available) {
  if (age_ > 0) {
    Counts& counts = counts_[is_available_ ? 1 : 0];
    const std::size_t k = scale_.class_of(age_);
    counts.ticks[k] += 1;
    if (is_available != is_available_) counts.ends[k] += 1;
  }
  age_ = age_ > 0 && is_available == is_available_ ? age_ + 1 : 1;
  is_available_ = is_available;
}

ByAge SpellLearner::estimate(const Counts& counts) const {
  std::vector<double> weights;
  weights.reserve(cells_.size());
  for (const ByAge& cell : cells_) {
    double log_likelihood = 0;
    for (std::size_t k = 0; k < kAgeClasses; ++k) {
      log_likelihood += counts.ends[k] * std::log(cell[k]) + (counts.ticks[k] - counts.ends[k]) * std::log1p(-cell[k]);
    }
    weights.push_back(kTickWeight * log_likelihood);
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  ByAge mean{};
  double sum = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const double weight = std::exp(weights[i] - largest);
    sum += weight;
    for (std::size_t k = 0; k < kAgeClasses; ++k) mean[k] += weight * cells_[i][k];
  }
  for (double& hazard : mean) hazard /= sum;
  return mean;
}

Hazards SpellLearner::hazards() const { return {.away = estimate(counts_[0]), .available = estimate(counts_[1])}; }

}  // namespace berth::purchase
