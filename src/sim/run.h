/// One run of a scenario: the engine with one table of stages, and the simulated world that carries out its plans.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "domain/scenario.h"
#include "engine/engine.h"
#include "sim/journal.h"
#include "sim/world.h"

namespace berth::sim {

struct RunOptions {
  std::uint64_t seed = 1;
  WorldOptions world;
  bool is_strict = false;                     ///< plans must keep the scenario's constraints (engine/constraints.h)
  JournalSink journal;                        ///< may be empty
  std::function<bool(double done)> progress;  ///< may be empty; returns false to stop
  /// Called with each plan that has actions when it is made, and with the time at which it takes effect. May be empty.
  std::function<void(const Plan& plan, Instant acts_at)> plan_made;
};

/// How a run ended.
struct RunOutcome {
  std::unique_ptr<World> world;           ///< finished; absent when infeasible
  std::optional<std::string> infeasible;  ///< why no plan could exist
};

/// Runs the scenario to its end. Error only if `progress` stopped it. Requires: every plan of the stages passes the
/// verifiers, with `is_strict` also that of constraints.
[[nodiscard]] Result<RunOutcome> run_scenario(const Scenario& scenario, std::vector<Stage> stages,
                                              const RunOptions& options);

}  // namespace berth::sim
