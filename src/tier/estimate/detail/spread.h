/// How far predictions are off, learned from residuals of groups that were left out, and what one measurement says of
/// the other tiers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tier/estimate/detail/training_rows.h"

namespace berth::tier {

/// A residual's distribution: mean + deviation x Student's t.
struct ResidualBelief {
  double mean = 0;
  double deviation = 0;
};

/// Residuals of the logarithm are a vector over tiers for each anchor. Their covariance is between what was seen and a
/// prior that needs one figure: a random walk along the tiers (a step as long as the mean logarithm of the ratio, so
/// tiers on the same side of the anchor share the way that they have in common), 4/5 of the variance, and 1/5 of each
/// tier alone. What n groups have shown weighs n / (n + 4).
struct Spread {
  std::size_t tier_count = 0;
  int degrees = 3;                       ///< of freedom of Student's t: one less than the groups, 3 to 30
  std::vector<double> covariances = {};  ///< [anchor][tier][tier]
  friend bool operator==(const Spread&, const Spread&) = default;

  [[nodiscard]] double covariance(std::size_t anchor, std::size_t a, std::size_t b) const {
    return covariances[(anchor * tier_count + a) * tier_count + b];
  }
};

/// `residuals`: by row, of models that had not seen the row's group. Requires: rows is not empty.
[[nodiscard]] Spread fit_spread(const TrainingRows& rows, std::span<const double> residuals, std::size_t tier_count);

/// A residual that was seen on a tier.
struct SeenResidual {
  std::size_t tier = 0;
  double residual = 0;
};

/// Conditional normal distribution of the residual on `tier`, after those seen with the same anchor.
[[nodiscard]] ResidualBelief condition(const Spread& spread, std::size_t anchor, std::size_t tier,
                                       std::span<const SeenResidual> seen);

[[nodiscard]] bool is_well_formed(const Spread& spread);

}  // namespace berth::tier
