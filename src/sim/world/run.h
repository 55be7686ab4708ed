/// One run of a scenario: the loop of engine and simulated world, driven to its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/loop/engine.h"
#include "sim/world/loop.h"
#include "sim/world/world.h"

namespace berth::sim {

struct RunOptions {
  LoopOptions loop;
  std::function<bool(double done)> progress;  ///< may be empty; returns false to stop
};

/// The outcome of a run.
struct RunOutcome {
  std::unique_ptr<World> world;           ///< finished; absent when infeasible
  std::optional<std::string> infeasible;  ///< why no plan could exist
  Refusals refusals;
};

/// Runs the scenario to its end. Error only if `progress` stopped it.
[[nodiscard]] Result<RunOutcome> run_scenario(const Scenario& scenario, const MakeStages& make_stages,
                                              const RunOptions& options);
[[nodiscard]] Result<RunOutcome> run_scenario(const Scenario& scenario, std::vector<Stage> stages,
                                              const RunOptions& options);

}  // namespace berth::sim
