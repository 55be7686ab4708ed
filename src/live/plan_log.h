/// The latest plans and what became of them, action by action. Bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "domain/event.h"
#include "domain/plan.h"
#include "domain/snapshot.h"
#include "engine/engine.h"

namespace berth::live {

/// Legal transitions of a plan:
///
///   (arrives) -- something takes effect -----> acting
///   (arrives) -- nothing to do --------------> done
///   (arrives) -- refused by the verifiers ---> refused
///   acting    -- its last action ends -------> done
enum class PlanPhase : std::uint8_t { kActing, kDone, kRefused };

/// Legal transitions of an action:
///
///   (plan acts) -------------------------------------> running
///   (plan acts) -- the facts of its GPU changed -----> dropped
///   running     -- the world reports that it is done -> done
///   running     -- its GPU is lost ------------------> failed
///   running     -- a later plan changes the slice ---> dropped
enum class ActionPhase : std::uint8_t { kRunning, kDone, kFailed, kDropped };

struct ActionStatus {
  Action action;
  ActionPhase phase = ActionPhase::kRunning;
  std::string message;
  /// Of a destruction: the generation of the slice that goes.
  std::uint64_t generation = 0;
};

struct PlanStatus {
  Plan plan;  ///< with the actions that took effect
  Instant acted_at;
  PlanPhase phase = PlanPhase::kActing;
  std::string message;                ///< of a refusal
  std::vector<ActionStatus> actions;  ///< of the plan as it arrived, in its order
};

class PlanLog {
 public:
  static constexpr std::size_t kCapacity = 1'000;

  /// A plan arrived with this answer of a step; `snapshot` is the state after it. `arrived` is the plan as the solver
  /// made it.
  void add(const Plan& arrived, const StepAnswer& answer, const Snapshot& snapshot);
  /// What the world reported.
  void apply(const Event& event);

  /// Oldest first.
  [[nodiscard]] const std::deque<PlanStatus>& plans() const { return plans_; }
  /// The plan of that id, unless it is forgotten.
  [[nodiscard]] const PlanStatus* find(std::uint64_t id) const;

 private:
  /// An action that runs: its plan and its place in it.
  struct Running {
    std::uint64_t plan = 0;
    std::size_t action = 0;
  };
  /// Earlier actions on a slice that still run are replaced by those of another plan.
  void replace_earlier(const Slice& slice, std::uint64_t by);
  void end(GpuId gpu, std::uint64_t number, ActionPhase phase, const std::string& message);

  std::deque<PlanStatus> plans_;
  /// By GPU and Action::number, or for destructions the generation of the slice that goes.
  std::map<std::pair<GpuId, std::uint64_t>, std::vector<Running>> running_;
};

}  // namespace berth::live
