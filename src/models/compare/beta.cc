#include "models/compare/beta.h"

#include <cmath>
#include <limits>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

/// More than the continued fraction takes: about the root of the larger parameter.
constexpr int kStepsMax = 100'000;
constexpr int kHalvings = 200;

/// Converges fast for x below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kStepsMax; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return fraction;
}

/// Where an increasing function of [low, high] passes `wanted`, by halving.
template <class Function>
double find_crossing(double low, double high, double wanted, const Function& function) {
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (function(middle) < wanted ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  ENSURE(a > 0 && b > 0 && x >= 0 && x <= 1);
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double log_front = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  const double front = std::exp(log_front);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double share_lower(double hits, double count, double tail) {
  ENSURE(hits >= 0 && hits <= count && count > 0 && tail > 0 && tail < 0.5);
  if (hits <= 0) return 0;
  return find_crossing(0, 1, tail, [&](double x) { return incomplete_beta(hits, count - hits + 1, x); });
}

double share_upper(double hits, double count, double tail) { return 1 - share_lower(count - hits, count, tail); }

double student_quantile(double freedom, double tail) {
  ENSURE(freedom >= 1 && tail > 0 && tail < 0.5);
  // P(T > t) = I_x(freedom / 2, 1/2) / 2 with x = freedom / (freedom + t^2).
  const double x = find_crossing(0, 1, 2 * tail, [&](double at) { return incomplete_beta(freedom / 2, 0.5, at); });
  return std::sqrt(freedom * (1 - x) / x);
}

}  // namespace berth::models
