#include "serving/warm/predictor.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::warm {
namespace {

/// Even a strict period may end.
constexpr double kProbabilityMax = 0.9999;

OpenGap open_gap(const KeyHistory& key, std::int64_t minute) {
  return {.minutes = minute - *key.minute_last,
          .gaps_before = key.gaps.count(),
          .minutes_last = key.gaps.count() > 0 ? key.gaps.last() : 0};
}

void take_invocation(KeyHistory& key, std::int64_t minute, std::int64_t count) {
  if (key.minute_last) key.gaps.add(minute - *key.minute_last);
  key.minute_last = minute;
  key.invocations += count;
}

}  // namespace

std::size_t Predictor::add_key() {
  keys_.emplace_back();
  return keys_.size() - 1;
}

void Predictor::observe_pool(std::int64_t minute, std::span<const Invoked> invoked) {
  auto next = invoked.begin();
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    const bool is_invoked = next != invoked.end() && next->key == key;
    if (is_invoked) ++next;
    if (keys_[key].minute_last) pool_.observe(open_gap(keys_[key], minute), is_invoked);
  }
  ENSURE(next == invoked.end());
}

void Predictor::finish_minute(std::int64_t minute, std::span<const Invoked> invoked) {
  ENSURE(!minute_ || minute > *minute_);
  for (std::int64_t quiet = minute_ ? *minute_ + 1 : minute; quiet < minute; ++quiet) observe_pool(quiet, {});
  observe_pool(minute, invoked);
  for (const Invoked& each : invoked) take_invocation(keys_[each.key], minute, each.count);
  minute_ = minute;
}

std::optional<double> Predictor::probability(std::size_t key, std::int64_t ahead) const {
  ENSURE(ahead > 0);
  const KeyHistory& history = keys_[key];
  if (!history.minute_last) return std::nullopt;
  const OpenGap gap = open_gap(history, *minute_ + ahead);
  const GapWeights own = history.gaps.at(gap.minutes);
  const double share = (own.ends_now + kPriorGaps * pool_.probability(gap)) / (own.not_before + kPriorGaps);
  return std::min(share, kProbabilityMax);
}

/// As `probability`, with the weight of the gaps that end in any of the minutes.
double Predictor::within(const GapMemory& gaps, const OpenGap& first, std::int64_t minutes) const {
  const double not_before = gaps.at(first.minutes).not_before;
  const double ends = not_before - gaps.at(first.minutes + minutes).not_before;
  OpenGap middle = first;
  middle.minutes += minutes / 2;
  const double others = 1 - std::pow(1 - pool_.probability(middle), static_cast<double>(minutes));
  return std::clamp((ends + kPriorGaps * others) / (not_before + kPriorGaps), 0.0, kProbabilityMax);
}

std::optional<double> Predictor::probability_within(std::size_t key, std::int64_t minutes) const {
  ENSURE(minutes > 0);
  const KeyHistory& history = keys_[key];
  if (!history.minute_last) return std::nullopt;
  return within(history.gaps, open_gap(history, *minute_ + 1), minutes);
}

double Predictor::probability_after(std::size_t key, std::int64_t minute, std::int64_t minutes) const {
  ENSURE(minutes > 0 && (!minute_ || minute > *minute_));
  KeyHistory history = keys_[key];
  take_invocation(history, minute, 1);
  return within(history.gaps, open_gap(history, minute + 1), minutes);
}

}  // namespace berth::warm
