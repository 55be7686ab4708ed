#include "domain/trace/detail/rate_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/core/ensure.h"

namespace berth::detail {
namespace {

constexpr double kQuietSeconds = 60;
constexpr double kBurstSeconds = 15;
constexpr double kQuietFactor = 0.5;
constexpr double kBurstFactor = 3;
constexpr double kBurstShare = kBurstSeconds / (kQuietSeconds + kBurstSeconds);
constexpr double kMarkGapSeconds = 1 / (1 / kQuietSeconds + 1 / kBurstSeconds);
// Marks in a second are Poisson-distributed with mean 1/12; this many occur once in 10^100 seconds.
constexpr int kMarksPerSecondMax = 64;

constexpr double kDiurnalAmplitude = 0.8;
constexpr std::int64_t kDaySeconds = 86'400;

}  // namespace

double BurstyShape::factor(std::int64_t second) const {
  ENSURE(second >= 0);
  const double share = walk(second, begins_in_burst(second)).burst_share;
  return kQuietFactor + (kBurstFactor - kQuietFactor) * share;
}

bool BurstyShape::begins_in_burst(std::int64_t second) const {
  for (std::int64_t earlier = second - 1; earlier >= 0; --earlier) {
    const BurstSecond walked = walk(earlier, false);
    if (walked.has_mark) return walked.ends_in_burst;
  }
  return rng_.split("start").unit() < kBurstShare;
}

BurstyShape::BurstSecond BurstyShape::walk(std::int64_t second, bool begins_in_burst) const {
  Rng rng = rng_.split("second", static_cast<std::uint64_t>(second));
  BurstSecond walked{.has_mark = false, .ends_in_burst = begins_in_burst, .burst_share = 0};
  double at = 0;
  for (int i = 0; i < kMarksPerSecondMax; ++i) {
    const double mark = at - kMarkGapSeconds * std::log1p(-rng.unit());
    if (walked.ends_in_burst) walked.burst_share += std::min(mark, 1.0) - at;
    if (mark >= 1) break;
    walked.has_mark = true;
    walked.ends_in_burst = rng.unit() < kBurstShare;
    at = mark;
  }
  return walked;
}

DiurnalShape::DiurnalShape(Window window)
    : period_seconds_(std::min(kDaySeconds, window.seconds)), window_mean_(mean_of(window)) {
  ENSURE(window.from_second >= 0 && window.seconds > 0);
}

double DiurnalShape::mean_of(Window window) const {
  const double radians_per_second = 2 * std::numbers::pi / static_cast<double>(period_seconds_);
  const auto sine_at = [&](std::int64_t second) {
    return std::sin(radians_per_second * static_cast<double>(second % period_seconds_));
  };
  // The mean of 1 - amplitude x cos over the window, in closed form.
  const double swing = sine_at(window.from_second + window.seconds) - sine_at(window.from_second);
  return 1 - kDiurnalAmplitude * swing / (radians_per_second * static_cast<double>(window.seconds));
}

}  // namespace berth::detail
