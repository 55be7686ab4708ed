/// How a loop runs, and what it reports.
#pragma once

#include <cstdint>
#include <functional>

#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/snapshot.h"
#include "domain/values/solution.h"
#include "engine/loop/approval.h"
#include "engine/loop/engine.h"
#include "sim/world/journal.h"
#include "sim/world/order.h"
#include "sim/world/solving.h"
#include "sim/world/world_options.h"

namespace berth::sim {

/// A struct of handlers, none of which is empty: one that is not set does nothing. They must not call the loop.
struct LoopListener {
  JournalSink journal = [](const JournalRecord&) {};
  /// A plan that has actions takes effect now.
  std::function<void(const Plan& plan, Instant acts_at)> plan = [](const Plan&, Instant) {};
  /// An order of the world, before it is carried out or, while a session is repeated, skipped.
  std::function<void(const Order&)> order = [](const Order&) {};
  /// An event that the engine is given, before the step that applies it.
  std::function<void(const Event&)> event = [](const Event&) {};
  /// The answer of a step, before the world carries it out.
  std::function<void(const StepAnswer&)> answer = [](const StepAnswer&) {};
  /// A solution of the loop's own solver, and the snapshot for which it was asked, before it is delivered.
  std::function<void(const Snapshot& posed, const Solution& solution)> solution = [](const Snapshot&, const Solution&) {
  };
  /// A question that is to be solved elsewhere; Loop::answer brings the solution, whenever it is known.
  std::function<void(SolveRequest)> question = [](const SolveRequest&) {};
};

struct LoopOptions {
  std::uint64_t seed = 1;
  WorldOptions world;
  bool is_strict = false;       ///< plans must keep the scenario's constraints (engine/loop/constraints.h)
  bool has_warm_pools = false;  ///< EngineRules
  Approval approval = Approval::kNever;
  bool first_layout_takes_time = false;  ///< EngineRules
  Solving solving = Solving::kAtOnce;
  LoopListener listener = {};
};

}  // namespace berth::sim
