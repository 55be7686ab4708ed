#include "live/session/speed_estimator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::live {
namespace {

constexpr std::int64_t kStretchSeconds = kSpeedStretch.count() / kMicrosPerSecond;
/// The rest without the oldest quarter is enough, also if that ends within a second with many batches.
constexpr std::int64_t kQuarter = 4;
constexpr std::int64_t kStretchBatches = kSpeedBatchesMin * 3 / 2;
constexpr std::int64_t kEndSeconds = kSpeedEnd.count() / kMicrosPerSecond;

double ratio(std::int64_t real_us, std::int64_t table_us) {
  return static_cast<double>(real_us) / static_cast<double>(table_us);
}

/// As it is recorded: in thousandths.
Decimal rounded(double factor) {
  constexpr std::int64_t kThousand = 1000;
  return {std::max<std::int64_t>(1, std::llround(factor * kThousand)), kThousand};
}

}  // namespace

void SpeedEstimator::add(const sim::BatchTimes& times) {
  if (times.batches == 0 || times.table_us <= 0) return;
  Stretch& stretch = stretches_[times.place];
  stretch.seconds.push_back(
      {.second = times.second, .batches = times.batches, .table_us = times.table_us, .real_us = times.real_us});
  stretch.sum.batches += times.batches;
  stretch.sum.table_us += times.table_us;
  stretch.sum.real_us += times.real_us;
  stretch.has_news = true;
  shorten(stretch, times.second);
}

void SpeedEstimator::forget(ServiceId service) {
  std::erase_if(stretches_, [&](const auto& each) { return each.first.service == service; });
}

/// Drops the oldest seconds without which the stretch is still long enough, and those that are too old to count.
void SpeedEstimator::shorten(Stretch& stretch, std::int64_t now_second) {
  while (stretch.seconds.size() > 1) {
    const Second& oldest = stretch.seconds.front();
    const bool is_spare = stretch.sum.batches - oldest.batches >= kStretchBatches &&
                          stretch.seconds[1].second <= now_second - kStretchSeconds;
    if (!is_spare && oldest.second > now_second - kEndSeconds) return;
    stretch.sum.batches -= oldest.batches;
    stretch.sum.table_us -= oldest.table_us;
    stretch.sum.real_us -= oldest.real_us;
    stretch.seconds.pop_front();
  }
}

std::optional<SpeedEstimator::Second> SpeedEstimator::settled(const Stretch& stretch) {
  if (stretch.seconds.back().second - stretch.seconds.front().second < kStretchSeconds) return std::nullopt;
  Second oldest;
  for (const Second& second : stretch.seconds) {
    oldest.batches += second.batches;
    oldest.table_us += second.table_us;
    oldest.real_us += second.real_us;
    if (oldest.batches * kQuarter >= stretch.sum.batches) break;
  }
  const Second rest{.second = stretch.seconds.back().second,
                    .batches = stretch.sum.batches - oldest.batches,
                    .table_us = stretch.sum.table_us - oldest.table_us,
                    .real_us = stretch.sum.real_us - oldest.real_us};
  if (rest.batches < kSpeedBatchesMin) return std::nullopt;
  const double before = ratio(oldest.real_us, oldest.table_us);
  const double since = ratio(rest.real_us, rest.table_us);
  return std::abs(before / since - 1) > kSpeedAgreement ? std::nullopt : std::optional(rest);
}

std::optional<SpeedMeasured> SpeedEstimator::find_news(const SpeedPlace& place, Stretch& stretch,
                                                       const SpeedFactors& known, Instant now) const {
  if (!std::exchange(stretch.has_news, false)) return std::nullopt;
  // Most engines have good tables, and many places.
  const bool is_as_expected = std::abs(ratio(stretch.sum.real_us, stretch.sum.table_us) - 1) < kSpeedDrift / 2;
  if (known.empty() && is_as_expected) return std::nullopt;
  const auto own = known.find(place);
  if (own != known.end() && now - own->second.at < kSpeedSpacing) return std::nullopt;
  const double in_force = speed_reported(known, place).to_double();
  const auto measured = settled(stretch);
  if (!measured) return std::nullopt;
  const double factor = ratio(measured->real_us, measured->table_us);
  if (std::abs(factor / in_force - 1) < kSpeedDrift) return std::nullopt;
  return SpeedMeasured{.place = place, .factor = rounded(factor), .batches = measured->batches};
}

bool SpeedEstimator::has_ended(const SpeedPlace& place, const SpeedFactor& speed, Instant now) const {
  Instant last = std::max(speed.at, began_);
  const auto stretch = stretches_.find(place);
  if (stretch != stretches_.end()) {
    last = std::max(last, Instant::at_second(stretch->second.seconds.back().second + 1));
  }
  return now - last >= kSpeedEnd;
}

std::vector<SpeedMeasured> SpeedEstimator::find_news(const SpeedFactors& known, Instant now, bool is_used) {
  std::vector<SpeedMeasured> news;
  SpeedFactors then = known;  // one service's factors count for its other places
  for (const auto& [place, speed] : known) {
    if (!has_ended(place, speed, now)) continue;
    news.push_back({.place = place, .factor = std::nullopt, .batches = 0, .is_used = speed.is_used});
    then.erase(place);
  }
  for (auto& [place, stretch] : stretches_) {
    auto found = find_news(place, stretch, then, now);
    if (!found) continue;
    found->is_used = is_used;
    note_speed(then, *found, now);
    news.push_back(*std::move(found));
  }
  return news;
}

std::optional<SpeedEstimate> SpeedEstimator::estimate_of(const SpeedPlace& place) const {
  const auto found = stretches_.find(place);
  if (found == stretches_.end()) return std::nullopt;
  const Second& sum = found->second.sum;
  return SpeedEstimate{.factor = ratio(sum.real_us, sum.table_us), .batches = sum.batches};
}

std::vector<SpeedPlace> SpeedEstimator::places() const {
  std::vector<SpeedPlace> places;
  places.reserve(stretches_.size());
  for (const auto& [place, stretch] : stretches_) places.push_back(place);
  return places;
}

}  // namespace berth::live
