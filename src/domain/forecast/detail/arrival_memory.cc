#include "domain/forecast/detail/arrival_memory.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"
#include "base/core/whole_division.h"

namespace berth::forecast::detail {
namespace {

/// The share of its weight that each span keeps over one second, exp(-1 / span), by the power series: exponents are at
/// most 1/4.
constexpr std::array<double, kSpanCount> kKeptByOneSecond = [] {
  constexpr int kTerms = 14;
  std::array<double, kSpanCount> kept{};
  for (std::size_t span = 0; span < kSpanCount; ++span) {
    double term = 1;
    for (int i = 1; i <= kTerms; ++i) {
      kept[span] += term;
      term *= -1 / (kSpans[span] * i);
    }
  }
  return kept;
}();

}  // namespace

Season::Season(Period period)
    : period_(period),
      profile_(static_cast<std::size_t>(period.seconds / period.slot_seconds), 0),
      last_(profile_.size(), -1),
      cycles_(profile_.size(), 0) {}

std::size_t Season::slot_of(std::int64_t second) const {
  const std::int64_t slot = floor_divide(second, period_.slot_seconds);
  const auto slots = static_cast<std::int64_t>(profile_.size());
  return static_cast<std::size_t>(slot - floor_divide(slot, slots) * slots);
}

void Season::observe(std::int64_t second, double requests) {
  const std::int64_t slot = floor_divide(second, period_.slot_seconds);
  if (open_count_ > 0 && slot != open_slot_) close_slot();
  open_slot_ = slot;
  open_sum_ += requests;
  ++open_count_;
  if (open_count_ == period_.slot_seconds) close_slot();
}

void Season::close_slot() {
  const std::size_t slot = slot_of(open_slot_ * period_.slot_seconds);
  const double seen = open_sum_ / static_cast<double>(open_count_);
  if (cycles_[slot] == 0) ++seen_count_;
  if (cycles_[slot] < UINT16_MAX) ++cycles_[slot];
  const double before = profile_[slot];
  const double share = std::max(1.0 / cycles_[slot], period_.fade_min);
  profile_[slot] = static_cast<float>(before + share * (seen - before));
  profile_sum_ += static_cast<double>(profile_[slot]) - before;
  last_[slot] = static_cast<float>(seen);
  open_sum_ = 0;
  open_count_ = 0;
}

double Season::swing_at(std::int64_t second) const {
  const std::size_t slot = slot_of(second);
  if (cycles_[slot] == 0) return 0;
  return static_cast<double>(profile_[slot]) - profile_sum_ / static_cast<double>(seen_count_);
}

double Season::last_at(std::int64_t second) const { return static_cast<double>(last_[slot_of(second)]); }

ArrivalMemory::ArrivalMemory() : seasons_{Season(kPeriods[0]), Season(kPeriods[1]), Season(kPeriods[2])} {}

void ArrivalMemory::observe(std::int64_t second, std::int64_t requests) {
  ENSURE(seen_seconds_ == 0 || second > last_second_);
  ENSURE(requests >= 0);
  const auto count = static_cast<double>(requests);
  const std::int64_t passed = seen_seconds_ == 0 ? 1 : second - last_second_;
  std::array<double, kPeriodCount> swing_now{};
  for (std::size_t period = 0; period < kPeriodCount; ++period) swing_now[period] = seasons_[period].swing_at(second);
  for (std::size_t span = 0; span < kSpanCount; ++span) {
    const double kept = passed == 1 ? kKeptByOneSecond[span] : std::exp(-static_cast<double>(passed) / kSpans[span]);
    weight_[span] = weight_[span] * kept + 1;
    total_[span] = total_[span] * kept + count;
    for (std::size_t period = 0; period < kPeriodCount; ++period) {
      swings_[period][span] = swings_[period][span] * kept + swing_now[period];
    }
  }
  for (Season& season : seasons_) season.observe(second, count);
  last_second_ = second;
  last_requests_ = count;
  ++seen_seconds_;
}

}  // namespace berth::forecast::detail
