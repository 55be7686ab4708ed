/// The distribution of a count from its mean and variance.
#pragma once

#include "domain/forecast/detail/grid.h"

namespace berth::forecast::detail {

/// Mean and variance of a count.
struct Moments {
  double mean = 0;
  double variance = 0;
};

/// The quantiles of a count with these moments (see Spread).
///
/// Variance above the mean, or equal: negative binomial, or Poisson; exact for small means, otherwise by its first
/// three moments (Pearson III, Wilson and Hilferty 1931). Clearly below the mean: normal, rounded to counts. Requires:
/// mean >= 0, variance >= 0, finite. At most a few hundred ns.
[[nodiscard]] Spread spread_of(Moments moments);

}  // namespace berth::forecast::detail
