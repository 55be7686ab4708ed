/// How far counts stray from the mean that was forecast for them.
#pragma once

#include "forecast/detail/count_law.h"

namespace berth::forecast::detail {

/// Learns the variance of a count around a forecast mean m: m + d m^2 (a level that strays by a share of itself, under
/// Poisson noise) where counts stray more than Poisson's, f m with f < 1 where they stray less. Fading.
class ErrorScale {
 public:
  void learn(double mean, double count);
  /// Requires: mean >= 0.
  [[nodiscard]] double variance_at(double mean) const;

 private:
  // m here is the mean of the forecast and the count, so that neither alone makes the unit.
  double excess_ = 0;         ///< sum of (error^2 - m) / (1 + m)^2
  double excess_unit_ = 0;    ///< sum of m^2 / (1 + m)^2
  double poisson_ = 0;        ///< sum of error^2 / (1 + m)
  double poisson_unit_ = 0;   ///< sum of m / (1 + m)
  double squared_error_ = 0;  ///< sum of error^2
  double weight_ = 0;
  double doubt_ = 3;  ///< how many judgements the first belief still weighs
};

}  // namespace berth::forecast::detail
