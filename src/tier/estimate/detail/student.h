/// Student's distribution with a whole number of degrees of freedom.
#pragma once

namespace berth::tier {

/// P(T <= t), exactly summed (Abramowitz and Stegun 26.7.3, 26.7.4). Requires: degrees >= 1.
[[nodiscard]] double student_cdf(double t, int degrees);

/// The t with P(T <= t) = share, by bisection. Requires: 0 < share < 1, degrees >= 1.
[[nodiscard]] double student_quantile(double share, int degrees);

}  // namespace berth::tier
