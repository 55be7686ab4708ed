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
  /// Called with each plan that has actions when it takes effect. May be empty.
  std::function<void(const Plan& plan, Instant acts_at)> plan_made;
  /// Sees each solution, and the snapshot for which it was asked, before it is delivered. May be empty.
  std::function<void(const Snapshot& posed, const Solution& solution)> solved;
  /// Whether to discard the engine after the step at that instant, and rebuild it from the events alone: for tests of
  /// that. May be empty; else all events of the run are kept.
  std::function<bool(Instant)> rebuilds_engine_at;
};

/// Makes the stages of a run, anew each time.
using MakeStages = std::function<std::vector<Stage>()>;

/// How a run ended.
struct RunOutcome {
  std::unique_ptr<World> world;           ///< finished; absent when infeasible
  std::optional<std::string> infeasible;  ///< why no plan could exist
  std::int64_t refused_plans = 0;         ///< plans that the verifiers refused: nothing of them took effect
  std::string first_refusal;              ///< the verifier's words, with the time; empty if there was none
};

/// Runs the scenario to its end. Error only if `progress` stopped it. The second form is for runs that never rebuild
/// the engine.
[[nodiscard]] Result<RunOutcome> run_scenario(const Scenario& scenario, const MakeStages& make_stages,
                                              const RunOptions& options);
[[nodiscard]] Result<RunOutcome> run_scenario(const Scenario& scenario, std::vector<Stage> stages,
                                              const RunOptions& options);

}  // namespace berth::sim
