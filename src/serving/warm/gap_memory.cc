#include "serving/warm/gap_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "base/core/ensure.h"

namespace berth::warm {
namespace {

/// 1 + 2 + ... + n.
constexpr double triangle(double n) { return n * (n + 1) / 2; }

/// The share of a gap's weight at an offset from it, and at that offset or later: weights 1, 2, ..., spread + 1, ...,
/// 2, 1 around the gap.
GapWeights share_at(std::int64_t offset, std::int64_t spread) {
  if (offset > spread) return {};
  if (offset < -spread) return {.ends_now = 0, .not_before = 1};
  const auto side = static_cast<double>(spread + 1);
  const double all = side * side;
  const auto here = side - static_cast<double>(std::abs(offset));
  const double later = offset > 0 ? triangle(here) : all - triangle(here - 1);
  return {.ends_now = here / all, .not_before = later / all};
}

}  // namespace

void GapMemory::add(std::int64_t minutes) {
  ENSURE(minutes > 0);
  const auto gap = static_cast<std::int32_t>(std::min(minutes, kGapMinutesMax));
  if (count_ > 0) observe_distance(gap);
  remember(gap);
  recent_[static_cast<std::size_t>(count_) % kRecentGapsMax] = gap;
  last_ = gap;
  ++count_;
}

void GapMemory::observe_distance(std::int32_t minutes) {
  std::int32_t nearest = minutes / 2;
  for (const WeighedGap& gap : std::span(gaps_).first(gap_count_)) {
    nearest = std::min(nearest, std::abs(gap.minutes - minutes));
  }
  distance_sum_ = distance_sum_ * kGapDecay + nearest;
  distance_weight_ = distance_weight_ * kGapDecay + 1;
}

void GapMemory::remember(std::int32_t minutes) {
  const auto known = std::span(gaps_).first(gap_count_);
  for (WeighedGap& gap : known) gap.weight = static_cast<float>(gap.weight * kGapDecay);
  auto place = std::ranges::find(known, minutes, &WeighedGap::minutes);
  if (place == known.end() && gap_count_ < kGapsMax) {
    gaps_[gap_count_++] = {.minutes = minutes, .weight = 1};
    return;
  }
  if (place == known.end()) {
    place = std::ranges::min_element(known, {}, &WeighedGap::weight);
    *place = {.minutes = minutes, .weight = 0};
  }
  place->weight += 1;
}

double GapMemory::spread() const { return kSpreads * (distance_sum_ + kFirstDistance) / (distance_weight_ + 1); }

GapWeights GapMemory::at(std::int64_t minutes) const {
  const auto widest = static_cast<std::int64_t>(std::floor(spread()));
  GapWeights sum;
  for (const WeighedGap& gap : std::span(gaps_).first(gap_count_)) {
    const GapWeights share = share_at(minutes - gap.minutes, std::min<std::int64_t>(widest, gap.minutes / 2));
    sum.ends_now += static_cast<double>(gap.weight) * share.ends_now;
    sum.not_before += static_cast<double>(gap.weight) * share.not_before;
  }
  return sum;
}

std::optional<UsualGap> GapMemory::usual() const {
  if (count_ == 0) return std::nullopt;
  const std::size_t known = std::min(static_cast<std::size_t>(count_), kRecentGapsMax);
  auto sorted = recent_;
  std::ranges::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  const std::size_t inside = (4 * known + 4) / 5;
  std::size_t best = 0;
  for (std::size_t i = 0; i + inside <= known; ++i) {
    if (sorted[i + inside - 1] - sorted[i] < sorted[best + inside - 1] - sorted[best]) best = i;
  }
  return UsualGap{.from = sorted[best], .to = sorted[best + inside - 1], .inside = inside, .of = known};
}

}  // namespace berth::warm
