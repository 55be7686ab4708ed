#include "domain/forecast/detail/count_law.h"

#include <numbers>

#include "base/core/ensure.h"

namespace berth::forecast::detail {
namespace {

/// Up to this mean the distribution is summed count by count; every level found early saves 3 % of the cost.
constexpr double kSummedMeanMax = 20;
constexpr int kSummedCountMax = 200;
/// A variance of at least this share of the mean counts as Poisson's: the learned levels correct the rest.
constexpr double kPoissonShare = 0.9;
/// Narrower distributions are summed count by count too, because the edges of counts matter there.
constexpr double kSummedDeviationMax = 3;
/// The variance of the uniform distribution on [0, 1).
constexpr double kSpreadingVariance = 1.0 / 12;

/// The probability of 0, and the factor from that of n to that of n + 1: (a + b n) / (n + 1).
struct Recurrence {
  double zero = 1;
  double a = 0;
  double b = 0;
};

Recurrence recurrence_of(Moments moments) {
  const double excess = moments.variance - moments.mean;
  if (excess <= 1e-6 * moments.mean) return {.zero = std::exp(-moments.mean), .a = moments.mean, .b = 0};
  const double shape = moments.mean * moments.mean / excess;
  const double share = excess / moments.variance;
  return {.zero = std::exp(shape * std::log1p(-share)), .a = shape * share, .b = share};
}

/// False if the tail is so long that kSummedCountMax counts do not reach the last level.
bool sum_law(Moments moments, Spread& spread) {
  const Recurrence recurrence = recurrence_of(moments);
  double probability = recurrence.zero;
  double below = 0;
  std::size_t level = 0;
  for (int count = 0; count < kSummedCountMax; ++count) {
    while (kGridLevels[level] <= below + probability) {
      spread[level] = count + (kGridLevels[level] - below) / probability;
      if (++level == kGridLevels.size()) return true;
    }
    below += probability;
    probability *= (recurrence.a + recurrence.b * count) / (count + 1);
  }
  return false;
}

/// The normal distribution, each count with the probability within half a unit of it.
Spread sum_narrow_law(Moments moments) {
  const double deviation = std::max(std::sqrt(moments.variance), 0.05);
  const auto share_up_to = [&](double count) {
    return 0.5 * std::erfc((moments.mean - count - 0.5) / deviation * std::numbers::sqrt2 / 2);
  };
  Spread spread{};
  double count = std::max(0.0, std::floor(moments.mean - 3 * deviation));
  double below = 0;
  double up_to = share_up_to(count);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    while (up_to < kGridLevels[i]) {
      below = up_to;
      up_to = share_up_to(++count);
    }
    spread[i] = count + (kGridLevels[i] - below) / (up_to - below);
  }
  return spread;
}

Spread approximate_law(Moments moments) {
  const double deviation = std::sqrt(moments.variance + kSpreadingVariance);
  const double skew = moments.variance < moments.mean
                          ? 0
                          : std::min(4.0, (2 * moments.variance / moments.mean - 1) * moments.variance /
                                              (deviation * deviation * deviation));
  Spread spread{};
  for (std::size_t i = 0; i < spread.size(); ++i) {
    double standard = kGridNormals[i];
    if (skew > 1e-4) {
      const double root = std::max(0.0, 1 + skew * standard / 6 - skew * skew / 36);
      standard = 2 / skew * (root * root * root - 1);
    }
    spread[i] = std::max(0.0, moments.mean + 0.5 + deviation * standard);
  }
  return spread;
}

}  // namespace

Spread spread_of(Moments moments) {
  ENSURE(moments.mean >= 0 && moments.variance >= 0);
  constexpr double kMeanMin = 1e-9;
  if (moments.mean < kMeanMin) return kGridLevels;
  if (moments.variance < kPoissonShare * moments.mean) {
    return moments.variance < kSummedDeviationMax * kSummedDeviationMax ? sum_narrow_law(moments)
                                                                        : approximate_law(moments);
  }
  Spread spread{};
  if (moments.mean <= kSummedMeanMax && sum_law(moments, spread)) return spread;
  return approximate_law(moments);
}

}  // namespace berth::forecast::detail
