/// How far counts deviate from their forecast mean.
#pragma once

#include "domain/forecast/detail/count_law.h"

namespace berth::forecast::detail {

/// Learns the variance of a count around a forecast mean m: m + d m^2 (a level that deviates in proportion to itself,
/// plus Poisson noise) if counts deviate more than Poisson's, f m with f < 1 if they deviate less. Fading.
class ErrorScale {
 public:
  void learn(double mean, double count);
  /// Requires: mean >= 0.
  [[nodiscard]] double variance_at(double mean) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.excess_, self.excess_unit_, self.poisson_, self.poisson_unit_, self.squared_error_, self.weight_,
            self.doubt_);
  }

 private:
  // Here m is the mean of the forecast and the count, so that neither alone determines the unit.
  double excess_ = 0;         ///< sum of (error^2 - m) / (1 + m)^2
  double excess_unit_ = 0;    ///< sum of m^2 / (1 + m)^2
  double poisson_ = 0;        ///< sum of error^2 / (1 + m)
  double poisson_unit_ = 0;   ///< sum of m / (1 + m)
  double squared_error_ = 0;  ///< sum of error^2
  double weight_ = 0;
  double doubt_ = 3;  ///< the weight of the prior, in judgements
};

}  // namespace berth::forecast::detail
