#include "domain/forecast/detail/error_scale.h"

#include <algorithm>

namespace berth::forecast::detail {
namespace {

constexpr double kFade = 1 - 1.0 / 400;
/// Prior: a level deviates by half of itself. Each judgement multiplies the weight of the prior by this factor: the
/// prior is so wrong for large steady counts that it must disappear, not fade into the mean.
constexpr double kExcessFirst = 0.25;
constexpr double kDoubtKept = 0.8;
/// For any mean, the variance is at least this share of the mean squared error.
constexpr double kSquaredErrorShare = 0.1;

}  // namespace

void ErrorScale::learn(double mean, double count) {
  const double squared = (count - mean) * (count - mean);
  // The mean of both, not the forecast alone: one surprise after a silence must not produce errors of a million
  // percent.
  const double middle = (mean + count) / 2;
  const double unit = 1 / (1 + middle);
  excess_ = excess_ * kFade + (squared - middle) * unit * unit;
  excess_unit_ = excess_unit_ * kFade + middle * middle * unit * unit;
  poisson_ = poisson_ * kFade + squared * unit;
  poisson_unit_ = poisson_unit_ * kFade + middle * unit;
  squared_error_ = squared_error_ * kFade + squared;
  weight_ = weight_ * kFade + 1;
  doubt_ *= kDoubtKept;
}

double ErrorScale::variance_at(double mean) const {
  constexpr double kUnitMin = 1e-3;
  const double excess = (excess_ + kExcessFirst * doubt_) / std::max(excess_unit_ + doubt_, kUnitMin);
  const double below = std::min(1.0, (poisson_ + doubt_) / std::max(poisson_unit_ + doubt_, kUnitMin));
  const double variance = excess > 0 ? mean + excess * mean * mean : below * mean;
  return weight_ > 0 ? std::max(variance, kSquaredErrorShare * squared_error_ / weight_) : variance;
}

}  // namespace berth::forecast::detail
