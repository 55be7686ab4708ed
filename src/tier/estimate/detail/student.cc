#include "tier/estimate/detail/student.h"

#include <cmath>
#include <numbers>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

constexpr int kBisections = 80;

/// P(|T| <= t) for t >= 0.
double central_share(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const double square = cosine * cosine;
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1;
  double sum = 0;
  // Odd: cos + 2/3 cos^3 + 2*4/(3*5) cos^5 ...; even: 1 + 1/2 cos^2 + 1*3/(2*4) cos^4 ...
  for (int power = is_odd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= square * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  if (!is_odd) return std::sin(angle) * sum;
  return (angle + std::sin(angle) * sum) * 2 / std::numbers::pi;
}

}  // namespace

double student_cdf(double t, int degrees) {
  ENSURE(degrees >= 1);
  const double share = central_share(std::fabs(t), degrees);
  return t < 0 ? (1 - share) / 2 : (1 + share) / 2;
}

double student_quantile(double share, int degrees) {
  ENSURE(share > 0 && share < 1);
  if (share == 0.5) return 0;
  double low = -1;
  double high = 1;
  while (student_cdf(low, degrees) > share && low > -1e12) low *= 2;
  while (student_cdf(high, degrees) < share && high < 1e12) high *= 2;
  for (int i = 0; i < kBisections && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    (student_cdf(middle, degrees) < share ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace berth::tier
