/// The levels at which a distribution is kept between the steps of a forecast: kLevels and one more on each
/// side.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace berth::forecast::detail {

inline constexpr std::array<double, 13> kGridLevels = {0.005, 0.025, 0.1, 0.2, 0.3,   0.4,  0.5,
                                                       0.6,   0.7,   0.8, 0.9, 0.975, 0.995};
// The indices of the levels of the bands of 80 % and 95 %, and of the median.
inline constexpr std::size_t kGrid025 = 1;
inline constexpr std::size_t kGrid10 = 2;
inline constexpr std::size_t kGrid50 = 6;
inline constexpr std::size_t kGrid90 = 10;
inline constexpr std::size_t kGrid975 = 11;
static_assert(kGridLevels[kGrid10] == 0.1 && kGridLevels[kGrid50] == 0.5 && kGridLevels[kGrid90] == 0.9);
static_assert(kGridLevels[kGrid025] == 0.025 && kGridLevels[kGrid975] == 0.975);

/// The quantiles of the standard normal distribution at kGridLevels.
inline constexpr std::array<double, kGridLevels.size()> kGridNormals = {-2.5758293035489004,
                                                                        -1.9599639845400545,
                                                                        -1.2815515655446004,
                                                                        -0.8416212335729143,
                                                                        -0.5244005127080409,
                                                                        -0.2533471031357997,
                                                                        0,
                                                                        0.2533471031357997,
                                                                        0.5244005127080409,
                                                                        0.8416212335729143,
                                                                        1.2815515655446004,
                                                                        1.9599639845400545,
                                                                        2.5758293035489004};

/// A distribution of counts, as the quantiles of count + U with U uniform in [0, 1): a count c owns the interval
/// [c, c + 1), over which its probability is spread evenly. Ascending, >= 0. The floor of a quantile is the quantile of
/// the count.
using Spread = std::array<double, kGridLevels.size()>;

/// The probability under `spread` of values below x: linear between the levels, and extended beyond the last ones.
[[nodiscard]] inline double share_below(const Spread& spread, double x) {
  constexpr double kEnd = kGridLevels[0];
  constexpr double kStep = kGridLevels[1] - kGridLevels[0];
  constexpr double kWidthMin = 1e-9;
  if (x < spread.front()) {
    return std::max(0.0, kEnd - kStep * (spread.front() - x) / std::max(spread[1] - spread[0], kWidthMin));
  }
  if (x >= spread.back()) {
    const double width = spread.back() - spread[spread.size() - 2];
    return 1 - std::max(0.0, kEnd - kStep * (x - spread.back()) / std::max(width, kWidthMin));
  }
  std::size_t above = 1;
  while (spread[above] <= x) ++above;
  const double width = spread[above] - spread[above - 1];
  const double part = width > 0 ? (x - spread[above - 1]) / width : 1;
  return kGridLevels[above - 1] + part * (kGridLevels[above] - kGridLevels[above - 1]);
}

}  // namespace berth::forecast::detail
