#include "surface/api/clock_text.h"

#include <fmt/format.h>

#include <chrono>

namespace berth::api {

std::string WorldEpoch::text(Instant at) const {
  using std::chrono::microseconds;
  const std::chrono::sys_time<microseconds> time{microseconds(unix_micros + at.micros())};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace berth::api
