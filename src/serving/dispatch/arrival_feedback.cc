#include "serving/dispatch/arrival_feedback.h"

#include <algorithm>
#include <cmath>

namespace berth::serving {

void ArrivalFeedback::learn_hold(const Request& most_urgent, Instant now, Instant until) {
  if (hold_ && hold_->number == most_urgent.number) return;
  hold_ = Hold{.number = most_urgent.number, .middle = now + Micros((until - now).count() / 2)};
}

void ArrivalFeedback::learn_start(std::span<const Request> requests, Instant now) {
  // A hold of other requests was not this batch's: they were cancelled, or more urgent ones came.
  const bool was_held = hold_ && hold_->number == requests.front().number;
  const Instant from = was_held ? std::min(hold_->middle, now) : now;
  hold_.reset();
  if (silence_) return;  // since the start of a batch on another lane
  silence_ = Silence{.from = from, .rows_before = rows_};
  if (!was_held) return;
  for (const Request& request : requests) {
    if (request.arrival > from) silence_->rows_before -= request.rows;
  }
}

void ArrivalFeedback::learn_end(Instant now, double rows_per_second) {
  if (!silence_) return;
  const double expected = rows_per_second * (now - silence_->from).to_seconds();
  const auto joined = static_cast<double>(rows_ - silence_->rows_before);
  silence_.reset();
  share_ = std::clamp(share_ * std::exp(kStep * (joined - kExpectedMin * expected)), kShareMin, 1.0);
}

}  // namespace berth::serving
