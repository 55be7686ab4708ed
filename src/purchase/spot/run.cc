#include "purchase/spot/run.h"

#include <algorithm>

#include "base/core/whole_division.h"

namespace berth::purchase {
std::int64_t TickMath::ticks_left(std::int64_t tick) const {
  return floor_divide(job.deadline_seconds - tick * tick_seconds, tick_seconds);
}

std::int64_t TickMath::ticks_needed(std::int64_t done_seconds, std::int64_t restarts) const {
  return ceil_divide(job.task_seconds - done_seconds + restarts * job.restart_seconds, tick_seconds);
}

bool TickMath::is_guarded(const RunState& state) const {
  return ticks_needed(state.done_seconds, 1) >= ticks_left(state.tick);
}

RunState TickMath::after(const RunState& state, Holding now) const {
  RunState next{.tick = state.tick + 1, .type = now, .held = now};
  const bool is_restarted = now.hold != Hold::kNone && now != state.held;
  const std::int64_t restart = is_restarted ? job.restart_seconds : state.restart_seconds;
  if (now.hold == Hold::kNone) {
    next.restart_seconds = restart;
    next.done_seconds = state.done_seconds;
    return next;
  }
  const std::int64_t worked = std::max<std::int64_t>(tick_seconds - restart, 0);
  next.done_seconds = std::min(job.task_seconds, state.done_seconds + worked);
  next.restart_seconds = std::max<std::int64_t>(restart - tick_seconds, 0);
  return next;
}

Holding granted(const TickMath& math, const Market& market, const RunState& state, Holding want) {
  if (math.is_guarded(state)) {
    const bool is_running_spot = state.type.hold == Hold::kSpot && state.restart_seconds == 0;
    want = is_running_spot ? state.type : kOnDemandInstance;
  }
  if (want.hold == Hold::kSpot && !market.has(want.zone, state.tick)) return kNothing;
  return want;
}

}  // namespace berth::purchase
