/// The queue of a service: requests wait in the order of their seconds, and leave it when they have waited too long.
#pragma once

#include <cstdint>

#include "purchase/scale/problem.h"

namespace berth::scale {

/// Stores no requests: it is a position in the load. Regular value; amortised O(1) per second.
class WaitQueue {
 public:
  /// Begins empty, ahead of second `first` of the load. Requires: the load's counts outlive the queue.
  WaitQueue(const Load& load, std::int64_t wait_seconds, std::int64_t first)
      : load_(load), wait_seconds_(wait_seconds), head_(first) {}

  /// One second: its arrivals join, requests of seconds before `second` - wait leave as missed, and up to `capacity`
  /// are served from the head. Returns how many were served. Requires: called once for each second from `first` on, in
  /// order.
  std::int64_t serve(std::int64_t second, std::int64_t capacity);

  /// Requests that left the queue unserved.
  [[nodiscard]] std::int64_t missed() const { return missed_; }

 private:
  [[nodiscard]] std::int64_t head_left() const { return load_.at(head_) - head_taken_; }
  void pass_head() {
    ++head_;
    head_taken_ = 0;
  }

  Load load_;
  std::int64_t wait_seconds_ = 0;
  std::int64_t head_ = 0;        ///< the oldest second that may have requests in the queue
  std::int64_t head_taken_ = 0;  ///< how many of its requests are already served
  std::int64_t missed_ = 0;
};

}  // namespace berth::scale
