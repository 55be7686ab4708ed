#include "serving/warm/gap_pool.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "serving/warm/parameters.h"

namespace berth::warm {
namespace {

std::size_t octave_of(std::int64_t minutes) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(minutes))) - 1;
}

/// 1, 2, 3, 4 to 5, 6 to 7, 8 to 11, ...
std::size_t half_octave_of(std::int64_t minutes) {
  const std::size_t octave = octave_of(minutes);
  if (octave == 0) return 0;
  return 2 * octave + ((static_cast<std::uint64_t>(minutes) >> (octave - 1)) & 1U);
}

std::size_t history_of(std::int64_t gaps_before) {
  if (gaps_before < 2) return static_cast<std::size_t>(gaps_before);
  return gaps_before < 4 ? 2 : 3;
}

/// The length compared with the last gap: equal, nearly equal, nearly twice as long, or in a range of ratios.
std::size_t ratio_of(const OpenGap& gap) {
  const std::int64_t last = gap.minutes_last;
  const std::int64_t near = std::max<std::int64_t>(1, last / 10);
  if (gap.minutes == last) return 0;
  if (std::abs(gap.minutes - last) <= near) return gap.minutes < last ? 1 : 2;
  if (std::abs(gap.minutes - 2 * last) <= near) return 3;
  constexpr std::array kQuartersUpTo = {1, 2, 4, 6, 8, 12, 20, 40};
  std::size_t ratio = 4;
  for (const int quarters : kQuartersUpTo) {
    if (4 * gap.minutes < quarters * last) return ratio;
    ++ratio;
  }
  return ratio;
}

}  // namespace

void GapPool::Tally::add(double weight, bool has_ended) {
  minutes += weight;
  if (has_ended) ended += weight;
}

void GapPool::observe(const OpenGap& gap, bool has_ended) {
  const double weight = 1 / std::sqrt(static_cast<double>(gap.gaps_before + 1));
  const std::size_t history = history_of(gap.gaps_before);
  coarse_[history][std::min(half_octave_of(gap.minutes), kHalfOctaves - 1)].add(weight, has_ended);
  if (gap.gaps_before == 0) return;
  fine_[history][std::min(octave_of(gap.minutes_last), kOctaves - 1)][ratio_of(gap)].add(weight, has_ended);
}

double GapPool::probability(const OpenGap& gap) const {
  const double guess = kGuessRate / (static_cast<double>(gap.minutes) + kGuessOffset);
  const std::size_t history = history_of(gap.gaps_before);
  const double coarse =
      coarse_[history][std::min(half_octave_of(gap.minutes), kHalfOctaves - 1)].share(guess, kGuessMinutes);
  if (gap.gaps_before == 0) return coarse;
  return fine_[history][std::min(octave_of(gap.minutes_last), kOctaves - 1)][ratio_of(gap)].share(coarse,
                                                                                                  kCoarseMinutes);
}

}  // namespace berth::warm
