#include "purchase/spot/rules.h"

#include <optional>

#include "base/core/decimal.h"

namespace berth::purchase {
namespace {

bool holds_spot(const RunState& state) { return state.held.hold == Hold::kSpot; }

/// The decision of the safety net; none while there is time to wait.
std::optional<Holding> safety_net(const TickMath& math, const RunState& state) {
  const std::int64_t left = math.ticks_left(state.tick);
  if (math.ticks_needed(state.done_seconds, 1) >= left) return kOnDemandInstance;
  if (math.ticks_needed(state.done_seconds, 2) < left) return std::nullopt;
  return holds_spot(state) ? state.held : kOnDemandInstance;
}

/// Whether the share of work done is at or above the share of time passed: done / task >= seconds / deadline.
bool keeps_pace(const SpotJob& job, std::int64_t done_seconds, std::int64_t seconds) {
  return Int128{done_seconds} * job.deadline_seconds >= Int128{job.task_seconds} * seconds;
}

}  // namespace

Holding nearest_spot(const Market& market, const RunState& state) {
  if (holds_spot(state)) return state.held;
  for (std::size_t zone = 0; zone < market.zone_count(); ++zone) {
    if (market.has(zone, state.tick)) return spot_in(zone);
  }
  return kNothing;
}

Holding want_of_greedy(const TickMath& math, const Market& market, const RunState& state) {
  const auto safe = safety_net(math, state);
  return safe ? *safe : nearest_spot(market, state);
}

Holding want_of_uniform_progress(const TickMath& math, const Market& market, const RunState& state) {
  if (const auto safe = safety_net(math, state)) return *safe;
  const std::int64_t now = state.tick * math.tick_seconds;
  const Holding spot = nearest_spot(market, state);
  switch (state.held.hold) {
    case Hold::kSpot:
      return state.held;
    case Hold::kOnDemand: {
      const bool is_ahead = keeps_pace(math.job, state.done_seconds, now + 2 * math.job.restart_seconds);
      return spot.hold == Hold::kSpot && is_ahead ? spot : state.held;
    }
    case Hold::kNone:
      break;
  }
  if (spot.hold == Hold::kSpot) return spot;
  return keeps_pace(math.job, state.done_seconds, now) ? kNothing : kOnDemandInstance;
}

}  // namespace berth::purchase
