/// Exact bounds of shares and of means, from the incomplete beta function.
#pragma once

namespace berth::models {

/// The regularised incomplete beta function I_x(a, b), to about 1e-13. By its continued fraction (Abramowitz and
/// Stegun, 26.5.8; evaluated as by Lentz). Requires: a, b > 0; 0 <= x <= 1.
[[nodiscard]] double incomplete_beta(double a, double b, double x);

/// The bounds of Clopper and Pearson (1934) of a share of which `hits` of `count` were found: with any true share, the
/// probability is at most `tail` that the lower bound is above it, and likewise for the upper one. `hits` need not be
/// whole, to extrapolate. Requires: 0 <= hits <= count, count > 0, 0 < tail < 0.5.
[[nodiscard]] double share_lower(double hits, double count, double tail);
[[nodiscard]] double share_upper(double hits, double count, double tail);

/// The number that a variable with Student's t distribution is above with probability `tail`. Requires: freedom >= 1,
/// 0 < tail < 0.5.
[[nodiscard]] double student_quantile(double freedom, double tail);

}  // namespace berth::models
