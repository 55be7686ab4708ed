/// Replays a scenario under policies: the engine decides, the simulated world carries out its plans, `measure`
/// measures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/policy/settings.h"
#include "planner/goodput_bound/goodput_bound.h"
#include "sim/measure/result.h"
#include "sim/world/journal.h"

namespace berth::study {

/// Callbacks of a replay, which may also stop it.
struct ReplayHooks {
  /// Called from time to time with the policy and the share of its work that is done (0 to 1; a search may stay at one
  /// value for a while). Returns false to stop the replay, which then ends with ErrorCode::kInterrupted.
  std::function<bool(std::string_view policy, double done)> progress;
  /// Receives the journal of each policy in order of time, one policy after the other. May be empty.
  std::function<void(std::string_view policy, const sim::JournalRecord&)> journal;
  /// Fills PolicyResult::insight, for a report. Changes nothing else in the result.
  bool keeps_insight = false;
};

/// The figures of several policies on one scenario.
struct ReplayResult {
  std::string scenario;
  std::uint64_t seed = 0;
  std::int64_t simulated_seconds = 0;
  std::optional<std::int64_t> cost_micro_usd_fleet;
  /// The fleet of the policy `recorded`, where GPUs were added for the others.
  std::optional<measure::RowFleet> recorded_fleet = std::nullopt;
  Objective objective = Objective::kServices;  ///< the goodput that the scenario's objective names
  bound::Bound bound = {};                     ///< the goodput that no policy can exceed
  std::vector<measure::PolicyResult> policies;
};

/// Runs one policy. The result depends on scenario, policy, seed and settings alone. Error only if a hook stopped it.
/// Requires: `name` is one of policy::names().
[[nodiscard]] Result<measure::PolicyResult> replay_policy(const Scenario& scenario, std::string_view name,
                                                          std::uint64_t seed, const ReplayHooks& hooks,
                                                          const policy::Settings& settings = {});

/// The cost of the whole fleet over the run in micro-dollars, rounded half to even once; absent if an entry has no
/// price.
[[nodiscard]] std::optional<std::int64_t> fleet_cost_micro_usd(const Scenario& scenario);

}  // namespace berth::study
