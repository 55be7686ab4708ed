#include "live/session/change_samples.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/core/ensure.h"
#include "live/session/entry.h"

namespace berth::live {
namespace {

constexpr std::int64_t kCountMin = 3;
constexpr std::int64_t kCountMiddle = 5;
constexpr Micros kDifferenceMin = Micros(50'000);
constexpr std::int64_t kShareOfKnown = 10;  // a tenth

}  // namespace

std::optional<ChangeKind> ChangeSamples::end(const DeviceEnded& ended) {
  const auto found = open_.find(ended.intent);
  if (found == open_.end()) return std::nullopt;
  ChangeKind change = std::move(found->second);
  open_.erase(found);
  const Micros took(ended.gpu_instance_us + ended.compute_instance_us);
  if (ended.outcome != kDoneOutcome || took <= Micros()) return std::nullopt;
  add(change, took);
  return change;
}

void ChangeSamples::add(const ChangeKind& change, Micros took) {
  ENSURE(took > Micros());
  Samples& samples = samples_[change];
  samples.last.push_back(took);
  if (samples.last.size() > kTimeSamplesMax) samples.last.erase(samples.last.begin());
  ++samples.count;
}

MeasuredTime ChangeSamples::median_of(const Samples& samples) {
  std::vector<Micros> sorted = samples.last;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return {.median = *middle, .count = samples.count};
}

MeasuredTimes ChangeSamples::times() const {
  MeasuredTimes times;
  for (const auto& [change, samples] : samples_) times.emplace(change, median_of(samples));
  return times;
}

MeasuredTime ChangeSamples::time_of(const ChangeKind& change) const {
  const auto found = samples_.find(change);
  ENSURE(found != samples_.end());
  return median_of(found->second);
}

bool is_looked_at(std::int64_t count) {
  return count == kCountMin || count == kCountMiddle ||
         (count > 0 && count % static_cast<std::int64_t>(kTimeSamplesMax) == 0);
}

bool is_worth_learning(Micros known, const MeasuredTime& measured) {
  const Micros difference(std::abs((measured.median - known).count()));
  return measured.count >= kCountMin && difference >= kDifferenceMin &&
         difference.count() >= known.count() / kShareOfKnown;
}

}  // namespace berth::live
