/// What really happened, with the figures of a replay: the requests of a scenario, served on the slices that a recorded
/// run had.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "sim/measure/result.h"
#include "sim/study/replay.h"
#include "sim/world/recorded.h"

namespace berth::study {

/// Its name among policies.
inline constexpr std::string_view kRecorded = "recorded";

struct RecordedHistory {
  sim::RecordedRun run;
  std::string_view policy;  ///< a row of the registry: how its slices are shared, and requests handed out
};

/// Serves and measures the requests of the scenario. Nothing decides and nothing is planned: insight has no forecasts
/// and no decisions. Error only if a hook stopped it. Requires: the scenario has the fleet and the services of the run.
[[nodiscard]] Result<measure::PolicyResult> replay_recorded(const Scenario& scenario, const RecordedHistory& history,
                                                            std::uint64_t seed, const ReplayHooks& hooks);

}  // namespace berth::study
