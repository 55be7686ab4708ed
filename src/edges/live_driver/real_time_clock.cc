#include "edges/live_driver/real_time_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::edges {
namespace {

/// A start may take minutes, as drivers answer slowly and the first layout is searched for.
constexpr Micros kStartMax = Micros::seconds(600);
/// Clocks are slewed by less: nobody needs to know.
constexpr Micros kUnreportedMax = Micros::seconds(1);

/// "12.5 s", from two days on "8.0 days".
std::string span_text(Micros span) {
  constexpr double kDaySeconds = 86'400;
  const double seconds = span.to_seconds();
  return seconds < 2 * kDaySeconds ? fmt::format("{:.1f} s", seconds)
                                   : fmt::format("{:.1f} days", seconds / kDaySeconds);
}

}  // namespace

RealTimeClock::RealTimeClock(RealTimeClockOptions options, Instant now) : options_(std::move(options)) {
  const Instant wall = wall_now();
  stepped_until_ = wall - now <= kStartMax ? wall : now;
  static_cast<void>(look(now));
}

RealTimeClock::Look RealTimeClock::look(Instant now) {
  const Instant wall = wall_now();
  switch (state_) {
    case State::kFollows:
      return follow(now, wall);
    case State::kWaits:
      return wait(now, wall);
    case State::kByItself:
      return go_on(now, wall);
  }
  return {.until = now};
}

RealTimeClock::Look RealTimeClock::follow(Instant now, Instant wall) {
  if (wall - now > kClockGapMax) {
    begin_by_itself(now, fmt::format("the wall clock is {} ahead of the last recorded time, which may be wrong: the "
                                     "time of this world goes on from there; if the clock is right, start berth up "
                                     "again with --accept-gap: the gap is then booked to whoever held the GPUs",
                                     span_text(wall - now)));
    return go_on(now, wall);
  }
  if (wall >= now) return step_to(now, wall);
  state_ = State::kWaits;
  since_ = options_.steady();
  if (now - wall > kUnreportedMax) {
    set_trouble(
        fmt::format("the wall clock is {} behind the last recorded time: this world waits for it, for at most "
                    "{:.0f} s",
                    span_text(now - wall), kClockWait.to_seconds()));
  }
  return {.until = now};
}

RealTimeClock::Look RealTimeClock::wait(Instant now, Instant wall) {
  if (wall >= now) {
    state_ = State::kFollows;
    set_trouble(std::nullopt);
    return follow(now, wall);
  }
  if (options_.steady() - since_ < std::chrono::microseconds(kClockWait.count())) return {.until = now};
  begin_by_itself(now, fmt::format("the wall clock is still {} behind the last recorded time: the time of this world "
                                   "goes on from there until the wall clock has caught up",
                                   span_text(now - wall)));
  return go_on(now, wall);
}

RealTimeClock::Look RealTimeClock::go_on(Instant now, Instant wall) {
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(options_.steady() - since_);
  const Instant due = base_ + Micros(passed.count());
  if (wall < due || wall - due > kClockGapMax) return step_to(now, due);
  state_ = State::kFollows;
  set_trouble(std::nullopt);
  return follow(now, wall);
}

RealTimeClock::Look RealTimeClock::step_to(Instant now, Instant target) const {
  return {.until = std::max(now, target), .is_jump = target - std::max(now, stepped_until_) > kClockCatchUpMax};
}

void RealTimeClock::begin_by_itself(Instant now, const std::string& why) {
  state_ = State::kByItself;
  base_ = now;
  since_ = options_.steady();
  set_trouble(why);
}

Instant RealTimeClock::wall_now() const { return Instant(options_.wall_us() - options_.epoch_us); }

void RealTimeClock::set_trouble(const std::optional<std::string>& trouble) {
  const bool is_over = !trouble;
  {
    const std::scoped_lock hold(lock_);
    if (trouble_ == trouble) return;
    trouble_ = trouble;
  }
  options_.report(!is_over, is_over ? "the time of this world is that of the wall clock again" : *trouble);
}

std::optional<std::string> RealTimeClock::trouble() const {
  const std::scoped_lock hold(lock_);
  return trouble_;
}

std::optional<Instant> clock_after(Instant known, std::int64_t epoch_us, std::int64_t wall_us, bool accepts_gap) {
  const Instant wall(wall_us - epoch_us);
  if (wall <= known || (!accepts_gap && wall - known > kClockGapMax)) return std::nullopt;
  return wall;
}

}  // namespace berth::edges
