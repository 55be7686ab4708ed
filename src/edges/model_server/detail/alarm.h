/// A time at which one thread is woken.
#pragma once

#include <chrono>

namespace berth::edges::detail {

/// Other threads may move the time at any moment; unlike a notified condition variable, that wakes nobody. On Linux's
/// timers (timerfd), which also ring sooner after their time than a waiting thread is woken: they have no slack.
class Alarm {
 public:
  using Clock = std::chrono::steady_clock;

  Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm();

  /// Rings then, once, in place of the time set before; at once if that has passed. Any thread.
  void set(Clock::time_point at);
  /// Returns when it rings, or if it has rung since the last call; never, if no time is set. One thread.
  void wait();

 private:
  int timer_;  ///< a file descriptor
};

}  // namespace berth::edges::detail
