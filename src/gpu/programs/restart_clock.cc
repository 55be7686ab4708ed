#include "gpu/programs/restart_clock.h"

#include <algorithm>

namespace berth::programs {

Instant RestartClock::failed(Instant now) {
  failures_.push_back(now);
  if (failures_.size() > kLoopingFrom) failures_.pop_front();
  const bool was_healthy = ready_since_ && now - *ready_since_ >= kHealthyAfter;
  ready_since_.reset();
  pause_ = pause_ == Micros(0) || was_healthy ? kPauseFirst : std::min(pause_ * 2, kPauseMax);
  return now + pause_;
}

void RestartClock::restore(const std::vector<Instant>& failures, Micros pause, Instant now) {
  failures_.clear();
  for (const Instant each : failures) {
    if (each > now || (!failures_.empty() && each < failures_.back())) continue;
    failures_.push_back(each);
    if (failures_.size() > kLoopingFrom) failures_.pop_front();
  }
  pause_ = std::clamp(pause, Micros(0), kPauseMax);
}

std::int64_t RestartClock::failures(Instant now) const {
  return std::ranges::count_if(failures_, [&](Instant at) { return now - at < kWindow; });
}

bool RestartClock::is_looping(Instant now) const { return failures(now) >= static_cast<std::int64_t>(kLoopingFrom); }

}  // namespace berth::programs
