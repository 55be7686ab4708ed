/// One run of a job on a market, tick by tick: what is charged, what work is done, and when a policy decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/ensure.h"
#include "purchase/spot/market.h"

namespace berth::purchase {

enum class Hold { kNone, kSpot, kOnDemand };

/// What is held in a tick: nothing, a spot instance of a zone, or an instance on demand (its zone is 0).
struct Holding {
  Hold hold = Hold::kNone;
  std::size_t zone = 0;

  friend bool operator==(const Holding&, const Holding&) = default;
};

inline constexpr Holding kNothing = {};
inline constexpr Holding kOnDemandInstance = {.hold = Hold::kOnDemand, .zone = 0};
[[nodiscard]] constexpr Holding spot_in(std::size_t zone) { return {.hold = Hold::kSpot, .zone = zone}; }

/// The state of a run at the beginning of a tick, once what was held in the tick before is charged.
struct RunState {
  std::int64_t tick = 0;
  Holding type;                      ///< held in the tick before
  Holding held;                      ///< the same, or nothing if spot has gone now
  std::int64_t restart_seconds = 0;  ///< still to wait before work goes on
  std::int64_t done_seconds = 0;     ///< of work
};

/// Seconds that whole ticks of a job are counted in.
struct TickMath {
  SpotJob job;
  std::int64_t tick_seconds = 0;

  /// Whole ticks until the deadline; negative behind it.
  [[nodiscard]] std::int64_t ticks_left(std::int64_t tick) const;
  /// Ticks for the rest of the work and `restarts` restarts.
  [[nodiscard]] std::int64_t ticks_needed(std::int64_t done_seconds, std::int64_t restarts) const;
  /// Whether the rules of a run take the decision from the policy: only just enough time is left for the work on
  /// demand.
  [[nodiscard]] bool is_guarded(const RunState& state) const;
  /// The state of the next tick after `held` was changed to, or kept as, `now`; its `held` is not known yet.
  [[nodiscard]] RunState after(const RunState& state, Holding now) const;
};

/// What came of a run.
struct RunResult {
  std::vector<Holding> ticks;  ///< what was held in each, until the end
  std::int64_t spot_ticks = 0;
  std::int64_t on_demand_ticks = 0;
  std::int64_t switches = 0;  ///< restarts begun
  bool is_missed = false;     ///< the work was done behind the deadline
};

/// What a tick's holding becomes of what a policy wants, by the rules of a run: the guard, and spot that is not there.
[[nodiscard]] Holding granted(const TickMath& math, const Market& market, const RunState& state, Holding want);

/// Runs a job. `decide` is called with each RunState that is not the last one and returns what it wants to hold; it may
/// know what `market` says of this tick and of earlier ones. The rules, in order: what was held is charged in full and
/// worked, less the restart; spot that has gone is no longer held; the guard (`TickMath::is_guarded`) replaces the wish
/// by on demand, or by the running spot instance; spot that is not available becomes nothing; a change to something
/// begins a restart. O(ticks) without `decide`. Requires: as SpotJob.
template <class Decide>
[[nodiscard]] RunResult run_job(const Market& market, const SpotJob& job, Decide&& decide);

// Implementation

template <class Decide>
RunResult run_job(const Market& market, const SpotJob& job, Decide&& decide) {
  ENSURE(market.tick_seconds > 0 && job.task_seconds > 0 && job.restart_seconds >= 0);
  ENSURE(job.task_seconds + job.restart_seconds <= job.deadline_seconds);
  const TickMath math{.job = job, .tick_seconds = market.tick_seconds};
  RunResult result;
  RunState state;
  while (state.done_seconds < job.task_seconds) {
    const bool has_gone = state.type.hold == Hold::kSpot && !market.has(state.type.zone, state.tick);
    state.held = has_gone ? kNothing : state.type;
    const Holding now = granted(math, market, state, decide(state));
    result.ticks.push_back(now);
    if (now.hold == Hold::kSpot) ++result.spot_ticks;
    if (now.hold == Hold::kOnDemand) ++result.on_demand_ticks;
    if (now.hold != Hold::kNone && now != state.held) ++result.switches;
    state = math.after(state, now);
  }
  result.is_missed = state.tick * market.tick_seconds > job.deadline_seconds;
  return result;
}

}  // namespace berth::purchase
