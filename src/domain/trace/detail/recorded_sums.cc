#include "domain/trace/detail/recorded_sums.h"

#include <algorithm>
#include <numeric>

#include "base/core/ensure.h"
#include "base/core/instant.h"
#include "domain/trace/readers.h"

namespace berth::detail {
namespace {

constexpr std::int64_t kBlockSeconds = 64;

std::int64_t sum_of(const std::vector<std::uint32_t>& counts, std::int64_t begin, std::int64_t end) {
  return std::accumulate(counts.begin() + begin, counts.begin() + end, std::int64_t{0});
}

}  // namespace

RecordedSums::RecordedSums(const Arrivals& arrivals) : arrivals_(&arrivals), seconds_(trace_seconds(arrivals)) {
  ENSURE(!std::holds_alternative<Generator>(arrivals.source));
  if (const auto* by_second = std::get_if<CountTrace>(&arrivals.source)) {
    std::int64_t sum = 0;
    for (std::int64_t begin = 0; begin <= seconds_; begin += kBlockSeconds) {
      blocks_.push_back(sum);
      sum += sum_of(by_second->counts, begin, std::min(begin + kBlockSeconds, seconds_));
    }
  } else if (const auto* by_minute = std::get_if<MinuteTrace>(&arrivals.source)) {
    parts_ = kMinuteSeconds;
    blocks_.push_back(0);
    for (const std::uint32_t count : by_minute->counts) blocks_.push_back(blocks_.back() + count * parts_);
  }
}

std::int64_t RecordedSums::before(std::int64_t second) const {
  ENSURE(second >= 0 && second <= seconds_);
  if (const auto* by_second = std::get_if<CountTrace>(&arrivals_->source)) {
    const std::int64_t block = second / kBlockSeconds;
    return blocks_[static_cast<std::size_t>(block)] + sum_of(by_second->counts, block * kBlockSeconds, second);
  }
  if (const auto* by_minute = std::get_if<MinuteTrace>(&arrivals_->source)) {
    const auto minute = static_cast<std::size_t>(second / kMinuteSeconds);
    const std::int64_t rest = second % kMinuteSeconds;
    return blocks_[minute] + (rest == 0 ? 0 : by_minute->counts[minute] * rest);
  }
  const auto& requests = std::get<TimedTrace>(arrivals_->source).requests;
  const std::int64_t at_us = second * kMicrosPerSecond;
  const auto is_before = [](const TimedTrace::Request& request, std::int64_t end_us) { return request.at_us < end_us; };
  return std::lower_bound(requests.begin(), requests.end(), at_us, is_before) - requests.begin();
}

std::int64_t RecordedSums::second_parts_max() const {
  if (const auto* by_second = std::get_if<CountTrace>(&arrivals_->source)) {
    return *std::max_element(by_second->counts.begin(), by_second->counts.end());
  }
  if (const auto* by_minute = std::get_if<MinuteTrace>(&arrivals_->source)) {
    return *std::max_element(by_minute->counts.begin(), by_minute->counts.end());
  }
  return before(seconds_);
}

SmoothedWindow smoothed_window(const RecordedSums& sums, std::int64_t second, std::int64_t smooth_seconds) {
  ENSURE(second >= 0 && second < sums.seconds() && smooth_seconds > 0);
  // A window this wide reaches beyond both ends from any second; a wider one could overflow.
  const std::int64_t width = std::min(smooth_seconds, 4 * kTraceSecondsMax);
  const std::int64_t first = second - width / 2;
  const std::int64_t begin = std::max<std::int64_t>(first, 0);
  const std::int64_t end = std::min(first + width, sums.seconds());
  return {.parts = sums.before(end) - sums.before(begin), .seconds = end - begin};
}

}  // namespace berth::detail
