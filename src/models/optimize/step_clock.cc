#include "models/optimize/step_clock.h"

#include <algorithm>

namespace berth::models {

bool StepClock::has_time(Instant now) {
  if (asked_) {
    steps_[step_count_++ % steps_.size()] = now - *asked_;
  } else {
    preparation_ = now - start_;
  }
  asked_ = now;
  return now < deadline_ && now + *std::ranges::max_element(steps_) <= deadline_;
}

}  // namespace berth::models
