/// One run of a job on a market, tick by tick: charges, work done, and the policy's decisions.
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
  Holding held;                      ///< the same, or nothing if spot is gone now
  std::int64_t restart_seconds = 0;  ///< remaining before work resumes
  std::int64_t done_seconds = 0;     ///< of work
};

/// Arithmetic of a job's time in whole ticks.
struct TickMath {
  SpotJob job;
  std::int64_t tick_seconds = 0;

  /// Whole ticks until the deadline; negative behind it.
  [[nodiscard]] std::int64_t ticks_left(std::int64_t tick) const;
  /// Ticks for the rest of the work and `restarts` restarts.
  [[nodiscard]] std::int64_t ticks_needed(std::int64_t done_seconds, std::int64_t restarts) const;
  /// Whether the rules of a run override the policy: there is only just enough time left to finish on demand.
  [[nodiscard]] bool is_guarded(const RunState& state) const;
  /// The state of the next tick after `held` was changed to, or kept as, `now`; its `held` is not known yet.
  [[nodiscard]] RunState after(const RunState& state, Holding now) const;
};

/// The result of a run.
struct RunResult {
  std::vector<Holding> ticks;  ///< the holding in each tick, until the end
  std::int64_t spot_ticks = 0;
  std::int64_t on_demand_ticks = 0;
  std::int64_t switches = 0;  ///< restarts begun
  bool is_missed = false;     ///< the work was done after the deadline
};

/// The holding of a tick when a policy wants `want`, by the rules of a run: the guard, and spot that is not available.
[[nodiscard]] Holding granted(const TickMath& math, const Market& market, const RunState& state, Holding want);

/// Runs a job. `decide` is called with each RunState but the last and returns what to hold; it may use `market` up to
/// this tick. The rules, in order: the last holding is charged in full and works, less the restart; lost spot is no
/// longer held; the guard (`TickMath::is_guarded`) replaces the choice by on demand, or by the running spot instance;
/// unavailable spot becomes nothing; a change to a new instance begins a restart. O(ticks) without `decide`. Requires:
/// as SpotJob.
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
