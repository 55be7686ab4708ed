/// The engine: a deterministic state machine. Events and a time go in, a verified plan with reasons comes out. It does
/// no I/O, reads no clock and does not depend on the world that carries out its plans.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "domain/event.h"
#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"
#include "state/cluster_state.h"

namespace berth {

/// One named pass over the snapshot that may add actions to the plan. It must depend only on the snapshots seen so far
/// (and on what it was built from). A returned text is the reason why no plan can exist.
struct Stage {
  std::string name;
  std::function<std::optional<std::string>(const Snapshot&, Plan&)> run;
};

/// The result of a step.
struct StepAnswer {
  Plan plan;                              ///< may have no actions
  Instant acts_at;                        ///< when the plan takes effect: Snapshot::takes_effect_at
  bool is_first_layout = false;           ///< Snapshot::is_before_first_layout
  std::optional<std::string> infeasible;  ///< a stage found that no plan can exist
  std::optional<std::string> refused;     ///< the verifier's objection; the plan is then empty and nothing was recorded
};

struct EngineRules {
  /// Plans must also keep the scenario's constraints (engine/constraints.h): for policies that obey them.
  bool is_strict = false;
};

class Engine {
 public:
  /// `scenario` must outlive the engine. Every step runs the stages in this order.
  Engine(const Scenario& scenario, std::vector<Stage> stages, const EngineRules& rules = {});

  /// Accepts an event; it is applied by the next step.
  void observe(const Event& event) { inbox_.push_back(event); }

  /// Drains the events, runs the stages in order, verifies the plan and records it. Requires: `now` never goes back.
  [[nodiscard]] StepAnswer step(Instant now);

  [[nodiscard]] const Snapshot& snapshot() const { return state_.snapshot(); }

 private:
  const Scenario& scenario_;
  std::vector<Stage> stages_;
  EngineRules rules_;
  ClusterState state_;
  std::vector<Event> inbox_;
};

}  // namespace berth
