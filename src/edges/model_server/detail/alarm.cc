#include "edges/model_server/detail/alarm.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/core/ensure.h"

namespace berth::edges::detail {

Alarm::Alarm() : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) { ENSURE(timer_ >= 0); }

Alarm::~Alarm() { ::close(timer_); }

void Alarm::set(Clock::time_point at) {
  using std::chrono::nanoseconds;
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  // 0 would mean: never.
  const std::int64_t nanos =
      std::max<std::int64_t>(std::chrono::duration_cast<nanoseconds>(at.time_since_epoch()).count(), 1);
  const itimerspec time = {.it_interval = {},
                           .it_value = {.tv_sec = nanos / kNanosPerSecond, .tv_nsec = nanos % kNanosPerSecond}};
  ENSURE(::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &time, nullptr) == 0);
}

void Alarm::wait() {
  std::uint64_t count = 0;
  while (::read(timer_, &count, sizeof count) < 0) ENSURE(errno == EINTR || errno == EAGAIN);
}

}  // namespace berth::edges::detail
