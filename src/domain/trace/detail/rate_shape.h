/// The generators whose rate varies: the factor of each second's mean.
#pragma once

#include <cstdint>

#include "base/core/rng.h"

namespace berth::detail {

/// Two states, quiet and burst, of a continuous-time Markov chain with mean stays of 60 s and 15 s and rates of 0.5 and
/// 3 times the mean, which is therefore 1.
///
/// Uniformisation (Jensen 1953) makes any second reachable: marks are a Poisson process of rate 1/60 + 1/15 per
/// second, and each draws the state again from its stationary distribution (burst: 15 / 75). The leaving rates are then
/// 1/60 and 1/15. A second's state is that of the latest mark, on average 12 s back, so nothing has to be stored.
class BurstyShape {
 public:
  explicit BurstyShape(Rng rng) : rng_(rng) {}

  /// The factor of a second of the trace: 0.5 to 3, by the share of it spent in bursts. O(1) on average.
  [[nodiscard]] double factor(std::int64_t second) const;

 private:
  struct BurstSecond {
    bool has_mark = false;
    bool ends_in_burst = false;
    double burst_share = 0;
  };
  [[nodiscard]] bool begins_in_burst(std::int64_t second) const;
  [[nodiscard]] BurstSecond walk(std::int64_t second, bool begins_in_burst) const;

  Rng rng_;
};

/// A sinusoid of amplitude 0.8 around 1 with its trough at the trace's second 0 and a period of a day, or of the window
/// if that is shorter, scaled so that its mean over the window is 1.
class DiurnalShape {
 public:
  struct Window {
    std::int64_t from_second = 0;
    std::int64_t seconds = 1;
  };
  /// Requires: from_second >= 0, seconds > 0.
  explicit DiurnalShape(Window window);

  /// The factor of a second of the trace: the mean of the sinusoid over that second.
  [[nodiscard]] double factor(std::int64_t second) const { return mean_of({second, 1}) / window_mean_; }

 private:
  [[nodiscard]] double mean_of(Window window) const;

  std::int64_t period_seconds_;
  double window_mean_;
};

/// No bursty or diurnal second has a factor above this.
inline constexpr std::int64_t kShapeFactorMax = 3;

}  // namespace berth::detail
