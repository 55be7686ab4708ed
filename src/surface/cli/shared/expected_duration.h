/// How long the replays of a policy take compared with those of others, for estimates of the time left.
#pragma once

#include "engine/policy/policy.h"
#include "engine/policy/settings.h"

namespace berth::cli {

/// The duration of a replay in that of a policy with a fixed layout; > 0. Measured on the bundled example; a guess
/// elsewhere.
[[nodiscard]] double expected_replay_duration(const policy::Policy& policy, const policy::Settings& settings);

}  // namespace berth::cli
