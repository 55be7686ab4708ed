#include "purchase/scale/detail/season.h"

#include <algorithm>

namespace berth::scale::detail {
namespace {

/// A new period moves a factor by at least this share: about 12 periods are remembered.
constexpr double kNewsShareMin = 0.06;
/// The points of a long range at which a mean factor is sampled.
constexpr std::int64_t kSamples = 12;

}  // namespace

void Season::observe(const RecentSums& sums) {
  const std::int64_t end = sums.next();
  if (end % shape_.part != 0 || end - sums.first() < shape_.period) return;
  const double mean = sums.mean(end - shape_.period, end);
  if (mean <= 0) return;
  Part& part = parts_[shape_.part_of(end - 1)];
  part.periods += 1;
  const double share = std::max(1 / part.periods, kNewsShareMin);
  part.factor += share * (sums.mean(end - shape_.part, end) / mean - part.factor);
}

double Season::mean_factor(std::int64_t from, std::int64_t to) const {
  if (to - from >= shape_.period) return 1;
  const std::int64_t step = std::max<std::int64_t>(1, (to - from) / kSamples);
  double total = 0;
  double count = 0;
  for (std::int64_t second = from; second < to; second += step) {
    total += factor(second);
    count += 1;
  }
  return count > 0 ? total / count : 1;
}

}  // namespace berth::scale::detail
