/// The engine: a deterministic state machine. Events and a time go in; questions for a solver and verified plans with
/// reasons come out. It does no I/O, reads no clock, never waits for a solver and does not depend on the world that
/// carries out its plans.
///
///   step: apply events -> settle the waiting proposal -> put a finished solution into effect -> observe -> ask
///
/// A question is answered by the event SolveFinished: in a replay after a stated time, in a live world when a thread is
/// done. The first question is about the first layout, which is in place at once unless it takes its time
/// (EngineRules); if nothing is asked in the first step, or the answer is empty, the first layout is empty. One
/// question is open at a time. A plan that needs approval is kept as a proposal; while it waits, nothing is asked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "domain/values/solution.h"
#include "engine/loop/enforcement.h"
#include "engine/loop/engine_memory.h"
#include "engine/loop/proposal.h"
#include "engine/loop/stage.h"
#include "engine/loop/warm_pools.h"
#include "engine/state/cluster_state.h"

namespace berth {

/// A question for a solver.
struct SolveRequest {
  std::uint64_t question = 0;  ///< grows by one with each request; SolveFinished names it
  Instant made_at;
  Instant acts_at;  ///< the time for which it is posed; the plan takes effect when the answer arrives
  std::shared_ptr<const Snapshot> posed;
  std::function<Solution()> solve;  ///< pure; may run in another thread, later than the engine, too
};

/// Changes of one GPU that do not take effect because facts they depend on changed after the question.
struct DroppedPart {
  GpuId gpu;
  std::string why;
  friend bool operator==(const DroppedPart&, const DroppedPart&) = default;
};

/// The result of a step.
struct StepAnswer {
  std::optional<SolveRequest> request;
  /// Takes effect now; empty: nothing does. Its actions are numbered.
  Plan plan;
  bool is_first_layout = false;           ///< `plan` is in place at once (Snapshot::is_before_first_layout)
  std::vector<DroppedPart> dropped;       ///< of the plan that arrived
  std::optional<std::string> infeasible;  ///< a stage or its solver found that no plan can exist
  /// The verifier's objection to the plan that arrived: nothing of it takes effect. An ordinary answer in a live world.
  std::optional<std::string> refused;
  /// The plan that arrived waits for approval from now on.
  std::optional<Plan> held;
  /// The plan that arrived is dropped because planning is paused: the reason for the pause.
  std::optional<std::string> paused;
  /// A proposal that no longer waits. If it was approved, `plan` is that plan.
  std::optional<EndedProposal> ended;
  /// The GPU models that were chosen in this step (TierRule).
  std::vector<TierChoice> tiers = {};
  /// What is kept ready for services with a warm pool, where that changed in this step.
  std::vector<WarmDecision> warm = {};
};

struct EngineRules {
  /// Plans must also keep the scenario's constraints (engine/loop/constraints.h): for policies that obey them.
  /// Services with `tier: auto` or `known_on` are then treated as those keys say (engine/loop/enforcement.h).
  bool is_strict = false;
  /// Services with a warm pool have the slices that engine/loop/warm_pools.h decides, not more and not less.
  bool has_warm_pools = false;
  Approval approval = Approval::kNever;
  /// The first layout is treated like any other plan: it waits for approval, obeys a pause and windows without changes,
  /// and its actions take their time. For real devices. If false, it is in place at once.
  bool first_layout_takes_time = false;
};

/// How many of a service's latest seconds policies see. `history_seconds` limits those before second 0; of a run they
/// see at least as many as needed to tell whether a service has load.
[[nodiscard]] std::int64_t seen_seconds(const Scenario& scenario);

class Engine {
 public:
  /// Keeps a copy of `scenario`, whose services change by the events ServiceSet and ServiceRemoved, its windows without
  /// changes by NoChangesSet, TimesMeasured and SpeedMeasured. Every step runs the stages in this order.
  Engine(const Scenario& scenario, const MakeStages& make_stages, const EngineRules& rules = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Accepts an event; it is applied by the next step.
  void observe(const Event& event);

  /// Applies the events, ends the waiting proposal if it was approved or expired or its facts changed, and puts the
  /// plan of a solution among them into effect. Then the stages observe and, if no question is open, are asked. A step
  /// whose only event is a solution just puts it into effect: the stages have seen everything else. Requires: `now`
  /// never decreases.
  [[nodiscard]] StepAnswer step(Instant now);

  /// The engine's state, to be saved. Requires: no question is open, and no event waits for a step.
  [[nodiscard]] EngineMemory memory() const;
  /// Continues from a saved memory. Returns the names of the stages whose memory cannot be read; these start empty.
  /// Error, with nothing changed: the memory belongs to another scenario. Requires: nothing was observed yet; the
  /// scenario has the services as of when the memory was taken; `make_stages` makes new stages on each call.
  [[nodiscard]] Result<std::vector<std::string>> restore(const EngineMemory& memory);

  /// The scenario with all changes applied so far. Its stages see less of services with `tier: auto` or `known_on`, and
  /// tables that the scenario's speed factors correct.
  [[nodiscard]] const Scenario& scenario() const { return given_; }
  [[nodiscard]] const Snapshot& snapshot() const { return state_.snapshot(); }
  /// The GPU model chosen for a service with `tier: auto`; nullptr: none.
  [[nodiscard]] const TierChoice* tier_of(ServiceId service) const { return enforcement_.choice_for(service); }
  /// The state of a service's warm pool; nullptr: it has none.
  [[nodiscard]] const WarmStatus* warm_of(ServiceId service) const { return warm_.status_of(service); }
  /// Stage::forecast of the first stage that has one.
  [[nodiscard]] std::optional<forecast::Bands> forecast(ServiceId service, std::int64_t second) const;
  /// Whether it knows the rows of a service with `known_on` on a GPU model.
  [[nodiscard]] bool knows_rows(ServiceId service, const std::string& gpu) const {
    return enforcement_.knows_rows(service, gpu);
  }
  /// By GPU, up to the last one with an action: the latest Action::number.
  [[nodiscard]] const std::vector<std::uint64_t>& last_numbers() const { return state_.last_numbers(); }
  /// Whether events wait for the next step.
  [[nodiscard]] bool has_unapplied_events() const { return !inbox_.empty(); }
  [[nodiscard]] bool has_open_question() const { return open_question_.has_value(); }
  /// The plan that waits for approval, if any.
  [[nodiscard]] const Plan* waiting() const { return proposal_ ? &proposal_->plan : nullptr; }

 private:
  /// What the events of a step decide in addition to the state.
  struct News {
    std::shared_ptr<const Solution> solution;  ///< the answer to the open question; null: none
    bool is_approved = false;                  ///< the proposal that waits
    bool is_expired = false;                   ///< the same
  };
  [[nodiscard]] News apply_events();
  void note(const Event& event, News& news);
  void settle_proposal(const News& news, Instant now, StepAnswer& answer);
  void take(const Solution& solution, Instant now, StepAnswer& answer);
  [[nodiscard]] bool layout_stands_at_once() const;
  [[nodiscard]] bool layout_takes_time() const;
  [[nodiscard]] bool may_ask() const;
  [[nodiscard]] bool needs_approval(const Plan& plan) const;
  void accept(Plan plan, Instant now, StepAnswer& answer);
  [[nodiscard]] std::optional<std::string> find_reason_to_refuse(const Plan& plan, Instant now) const;
  void ask(Instant now, StepAnswer& answer);
  [[nodiscard]] SolveRequest request_for(Solution begun, Solve solve);

  void change_specs(const Event& event);
  void choose_tiers(StepAnswer& answer);
  void decide_warm(StepAnswer& answer);
  [[nodiscard]] bool is_shown_otherwise(ServiceId service) const;
  void note_limits(ServiceId service);
  void show(ServiceId service);
  void show_all();
  void set_spec(const ServiceSet& set);
  void note_speed(const SpeedMeasured& measured, Instant at);
  [[nodiscard]] std::vector<Stage> made_stages() const;
  [[nodiscard]] bool restore_tiers(const EngineMemory& memory);
  [[nodiscard]] bool restore_warm(const EngineMemory& memory);

  Scenario given_;
  Enforcement enforcement_;
  WarmPools warm_;
  Scenario scenario_;            ///< as the stages see it
  std::set<ServiceId> limited_;  ///< those with a most number of slices, as the stages see it
  MakeStages make_stages_;
  std::vector<Stage> stages_;
  EngineRules rules_;
  ClusterState state_;
  std::vector<Event> inbox_;
  std::uint64_t question_count_ = 0;
  std::optional<std::uint64_t> open_question_;
  std::optional<Proposal> proposal_;
  ChangedGpus changed_gpus_;
};

}  // namespace berth
