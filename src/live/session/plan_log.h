/// The latest plans and their outcomes, action by action. Bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "base/core/shared_value.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/plan_counts.h"
#include "live/session/service_names.h"

namespace berth {
struct StepAnswer;
}

namespace berth::live {

/// Legal transitions of a plan. It is proposed when it arrives, and the same step decides the rest:
///
///   (arrives) -- something takes effect -------------> acting
///   (arrives) -- none of it can be done any more ----> superseded
///   (arrives) -- refused by the verifiers -----------> refused
///   (arrives) -- while planning is paused -----------> superseded
///   (arrives) -- it needs approval ------------------> awaiting approval
///   awaiting approval -- approved -------------------> acting
///   awaiting approval -- not approved in time -------> expired
///   awaiting approval -- its basis changes ----------> superseded
///   acting            -- its last action ends -------> done
enum class PlanPhase : std::uint8_t { kAwaitingApproval, kActing, kDone, kExpired, kRefused, kSuperseded };
/// "awaiting_approval".
[[nodiscard]] std::string_view word(PlanPhase phase);

/// Legal transitions of an action. It is intended when its plan takes effect, and handed to the world at once:
///
///   (arrives) -- its plan takes effect --------------> running
///   (arrives) -- its plan waits for approval --------> planned
///   (arrives) -- the facts of its GPU changed -------> dropped
///   planned   -- its plan takes effect --------------> running
///   planned   -- its plan never takes effect --------> dropped
///   running   -- the world reports that it is done --> done
///   running   -- its GPU is lost --------------------> failed
///   running   -- the world reports that it failed ---> failed
///   running   -- a later plan changes the slice -----> dropped
///   running   -- the creation of its slice failed ---> dropped (of an assignment)
enum class ActionPhase : std::uint8_t { kPlanned, kRunning, kDone, kFailed, kDropped };
/// "planned".
[[nodiscard]] std::string_view word(ActionPhase phase);

/// The gap between the plan and the best one, at most, as a share of the bound; absent without a bound.
[[nodiscard]] std::optional<double> gap_of(const Plan& plan);

/// The states of a plan's actions. Small: a plan may have 100,000 of them.
class ActionStates {
 public:
  /// All are planned.
  explicit ActionStates(std::size_t count = 0) : states_(count) {}

  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] ActionPhase phase(std::size_t index) const { return states_[index].phase; }
  /// Why it failed or was dropped; else empty.
  [[nodiscard]] const std::string& message(std::size_t index) const { return messages_[states_[index].message]; }
  void set(std::size_t index, ActionPhase phase, const std::string& message);
  /// Generation of its slice, once it has begun; 0: it has not.
  [[nodiscard]] std::uint64_t generation(std::size_t index) const { return states_[index].generation; }
  void set_generation(std::size_t index, std::uint64_t generation) { states_[index].generation = generation; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.states_, self.messages_);
    for (const State& state : self.states_) archive.require(state.message < self.messages_.size());
  }

 private:
  struct State {
    ActionPhase phase = ActionPhase::kPlanned;
    std::uint32_t message = 0;  ///< index into messages_
    std::uint64_t generation = 0;
  };
  std::vector<State> states_;
  std::vector<std::string> messages_{""};  ///< neighbours are often equal, and then one text
};

/// A plan and its outcome so far. Cheap to copy (a few pointers and short texts); a copy does not change.
struct PlanStatus {
  std::shared_ptr<const Plan> plan;           ///< as the solver made it
  std::shared_ptr<const ServiceNames> names;  ///< of its services, as they were when it arrived
  std::vector<std::string> conflict;          ///< names of the constraints that no plan can meet together, at that time
  std::optional<Instant> acts_at;             ///< absent: it has not taken effect
  PlanPhase phase = PlanPhase::kActing;
  std::string message;                  ///< why it was refused, expired or superseded, or what failed
  std::vector<std::string> difference;  ///< of a superseded proposal: what changed
  SharedValue<ActionStates> actions;    ///< parallel to plan->actions
  std::size_t running_count = 0;        ///< of its actions
  std::optional<std::int64_t> expires_at_wall_us = std::nullopt;  ///< of a proposal: microseconds since 1970
};

/// An action whose phase has changed.
struct ActionChange {
  std::uint64_t plan = 0;  ///< Plan::id
  std::size_t action = 0;  ///< its index in Plan::actions
  ActionPhase phase = ActionPhase::kRunning;
  std::string message;
  friend bool operator==(const ActionChange&, const ActionChange&) = default;
};

class PlanLog {
 public:
  /// Beyond either limit the oldest plans are forgotten, but never the latest one.
  static constexpr std::size_t kCapacity = 1'000;
  static constexpr std::size_t kActionsMax = 500'000;

  /// Adds a plan that arrived with this answer of a step; `snapshot` is the state after it. `arrived` is the plan as
  /// the solver made it, for `scenario`. Returns the actions that changed, including those of earlier plans.
  std::vector<ActionChange> add(const std::shared_ptr<const Plan>& arrived, const Scenario& scenario,
                                const StepAnswer& answer, const Snapshot& snapshot);
  /// The proposal of this answer no longer waits; returns the same. Requires: answer.ended.
  std::vector<ActionChange> end_proposal(const StepAnswer& answer, const Snapshot& snapshot);
  /// Applies a report of the world; returns the same.
  std::vector<ActionChange> apply(const Event& event);
  /// Records until when a proposal waits.
  void set_wall_expiry(std::uint64_t id, std::int64_t expires_at_wall_us);

  /// Oldest first.
  [[nodiscard]] const std::deque<PlanStatus>& plans() const { return plans_; }
  /// The plan of that id, unless it is forgotten. O(log plans).
  [[nodiscard]] const PlanStatus* find(std::uint64_t id) const;
  /// The latest plan that is in progress or waits, or else the latest one; null before the first.
  [[nodiscard]] const PlanStatus* current() const;
  /// Since the log was made, or they were last forgotten; they are not saved.
  [[nodiscard]] const PlanCounts& counts() const { return counts_; }
  void forget_counts() { counts_ = {}; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.plans_, self.action_count_, self.running_);
  }

 private:
  /// A running action: its plan and its index there.
  struct Running {
    std::uint64_t plan = 0;
    std::size_t action = 0;
  };
  [[nodiscard]] PlanStatus* find_mutable(std::uint64_t id);
  void keep(PlanStatus status);
  void enter(PlanStatus& status, PlanPhase phase);
  /// Counts them; returns them.
  std::vector<ActionChange> counted(std::vector<ActionChange> changes);
  /// Begins the planned actions, with the numbers of the accepted plan.
  void begin(PlanStatus& status, const StepAnswer& answer, const Snapshot& snapshot,
             std::vector<ActionChange>& changes);
  /// Drops the planned actions.
  static void drop(PlanStatus& status, const std::string& why, std::vector<ActionChange>& changes);
  /// Earlier actions that still run on a slice are replaced by those of another plan.
  void replace_earlier(const Slice& slice, std::uint64_t by, std::vector<ActionChange>& changes);
  void end(GpuId gpu, std::uint64_t number, ActionPhase phase, const std::string& message,
           std::vector<ActionChange>& changes);

  std::deque<PlanStatus> plans_;  ///< ids ascending
  std::size_t action_count_ = 0;  ///< of all of them
  /// By GPU and Action::number, or for destructions the generation of the slice that is destroyed.
  std::map<std::pair<GpuId, std::uint64_t>, std::vector<Running>> running_;
  PlanCounts counts_;
};

}  // namespace berth::live
