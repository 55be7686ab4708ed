/// A stage: one part of a policy. The engine runs its table of stages in order and combines what they ask into one
/// question.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/forecast/forecaster.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "domain/values/solution.h"
#include "engine/loop/memory.h"

namespace berth {

/// Nothing more to ask: the stage's actions, if any, are in the plan.
struct Settled {};

/// No plan can exist.
struct NoPlan {
  std::string why;
};

/// Completes the solution, whose plan has the actions of earlier stages, for the snapshot for which it was asked. A
/// pure function of values that it owns (and of the scenario): it may run much later, in another thread, or never.
using Solve = std::function<void(const Snapshot&, Solution&)>;

using StageAnswer = std::variant<Settled, NoPlan, Solve>;

/// One named pass over the snapshot. Its behaviour must depend only on the snapshots and solutions seen so far (and on
/// its construction arguments), so that the same events lead to the same memory.
struct Stage {
  std::string name;
  /// Sees each snapshot before anything is asked, also while a question is open. May be empty.
  std::function<void(const Snapshot&)> observe;
  /// Adds actions to the plan that the step asks for, or leaves the work to a solver. Not called while a question is
  /// open. A Solve ends the pass: later stages are not asked.
  std::function<StageAnswer(const Snapshot&, Plan&)> ask;
  /// Sees each solution when it arrives, before it takes effect. May be empty.
  std::function<void(const Solution&)> learn;
  Memory memory = {};
  /// The forecast of a service's arrivals in that second, as its next question would use it. Nothing while a question
  /// is open, of services of which nothing was seen, and while their owners' words are used instead. May be empty.
  std::function<std::optional<forecast::Bands>(ServiceId, std::int64_t second)> forecast = {};
};

/// Makes the stages of an engine for its scenario, which outlives them and changes when services are set or removed.
using MakeStages = std::function<std::vector<Stage>(const Scenario&)>;

/// Returns `stages`, made earlier for another copy of a scenario whose services do not change. They carry state, so the
/// result may be used once.
[[nodiscard]] MakeStages ready_stages(std::vector<Stage> stages);

/// A stage that decides within the step: for cheap decisions, or policies that only replay. A returned text is the
/// reason why no plan can exist.
[[nodiscard]] Stage deciding_stage(std::string name,
                                   std::function<std::optional<std::string>(const Snapshot&, Plan&)> decide);

}  // namespace berth
