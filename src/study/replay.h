/// Replays a scenario under policies: the engine decides, the simulated world acts and measures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/scenario.h"
#include "sim/journal.h"
#include "policy/settings.h"
#include "measure/result.h"

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

/// The policies that there are, in the order in which they are shown.
[[nodiscard]] const std::vector<std::string>& policy_names();

/// Whether a policy looks at the whole trace before it begins: a yardstick that nobody can run.
[[nodiscard]] bool is_hindsight_policy(std::string_view policy);

/// Runs one policy. The result depends on scenario, policy, seed and settings alone. Error only when stopped by a hook.
/// Requires: `policy` is one of policy_names().
[[nodiscard]] Result<measure::PolicyResult> replay_policy(const Scenario& scenario, std::string_view policy, std::uint64_t seed,
                                                 const ReplayHooks& hooks, const policy::Settings& settings = {});

/// What the whole fleet costs over the run, exact, half to even; absent where an entry has no price.
[[nodiscard]] std::optional<std::int64_t> fleet_cost_micro_usd(const Scenario& scenario);

}  // namespace berth::sim
