/// Replays a scenario under policies: the engine decides, the simulated world acts and measures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bound/goodput_bound.h"
#include "domain/scenario.h"
#include "measure/result.h"
#include "policy/settings.h"
#include "sim/journal.h"

namespace berth::study {

/// What a caller may watch and stop while a replay runs.
struct ReplayHooks {
  /// Called now and then: which policy, and the share of its work done (0 to 1; a search may stay at one value for a
  /// while). Returns false to stop the replay, which then ends with ErrorCode::kInterrupted.
  std::function<bool(std::string_view policy, double done)> progress;
  /// Takes the journal of a policy, in order of time; policies come one after the other. May be empty.
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
  Objective objective = Objective::kServices;  ///< which goodput the scenario asks for
  bound::Bound bound = {};                     ///< what no policy can pass
  std::vector<measure::PolicyResult> policies;
};

/// Runs one policy. The result depends on scenario, policy, seed and settings alone. Error only when stopped by a hook.
/// Requires: `name` is one of policy::names().
[[nodiscard]] Result<measure::PolicyResult> replay_policy(const Scenario& scenario, std::string_view name,
                                                          std::uint64_t seed, const ReplayHooks& hooks,
                                                          const policy::Settings& settings = {});

/// What the whole fleet costs over the run, exact, half to even; absent where an entry has no price.
[[nodiscard]] std::optional<std::int64_t> fleet_cost_micro_usd(const Scenario& scenario);

}  // namespace berth::study
