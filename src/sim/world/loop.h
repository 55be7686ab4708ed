/// The engine and the simulated world, driven from one instant to the next. A replay drives it to its end at once
/// (run.h); a live program drives it with its clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "engine/loop/engine.h"
#include "sim/world/loop_memory.h"
#include "sim/world/loop_options.h"
#include "sim/world/loop_replay.h"
#include "sim/world/order.h"
#include "sim/world/world.h"
#include "sim/world/world_left.h"

namespace berth::sim {

/// Carries events to the engine, questions to a solver and plans to the world. Observations and solutions have their
/// delays; a plan takes effect at once. The same calls give the same bytes.
class Loop {
 public:
  /// `make_stages` is called for each engine that it makes.
  Loop(const Scenario& scenario, MakeStages make_stages, LoopOptions options);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// Observes the history, orders from outside and the slices that exist on outside devices, and makes the first step.
  /// To be called once, before anything else, unless `resume` is.
  void begin(const std::vector<Event>& orders = {}, const std::map<GpuId, world::ObservedLayout>& layouts = {});

  // ---- continuing where another loop ended

  /// Whether no question is open and nothing waits for a step: it has a memory only then.
  [[nodiscard]] bool is_at_rest() const;
  /// Requires: is_at_rest.
  [[nodiscard]] LoopMemory memory() const;
  /// Continues from that memory. `scenario`: with the services of that time. Returns the names of the stages whose
  /// memory cannot be read: they start again. Error, and nothing is changed: the memory is of another scenario. To be
  /// called before anything else.
  [[nodiscard]] Result<std::vector<std::string>> restore(const LoopMemory& memory, const Scenario& scenario);

  /// Repeats the inputs of that loop, in the same order, without a world: the engine observes an event, or steps.
  /// Orders that the world has carried out are skipped: those up to `carried_out`, to be stated first. Plans are not
  /// solved: their solutions are among the events.
  void replay_after(std::uint64_t carried_out);
  void replay_begin() { observe_history(); }
  void replay_to(Instant at);
  void replay(const Event& event) { observe(event); }
  void replay_step();
  /// The answer to the open question: it arrives when the world continues.
  void replay_answer(SolveFinished finished);
  /// An order from outside: a service was set or removed, a fault injected.
  void replay_order(Order order) { give(std::move(order)); }
  /// Makes the steps that followed the last repeated input, if no entry has them: orders and the known answer have
  /// effects, which the world may have carried out.
  void replay_end();
  /// The world continues, not before the last repeated step. The engine learns what happened while no process ran;
  /// orders that were not carried out are carried out now, where still possible. A question without an answer is asked
  /// again. Requires: replay_end; no slice of the devices is unknown (disown_unknown).
  void resume(WorldLeft left);

  /// Advances to `next_stop`, or to the first event of a slice or a retraining before it, with at most one step of the
  /// engine for what is new. Requires: not over, awaits no answer.
  void advance() { static_cast<void>(advance(next_stop())); }
  /// The same, but at most to `until`; if that comes first, only the world advances. Returns whether the engine made
  /// its step. Requires: not over, awaits no answer, now <= until.
  bool advance(Instant until);
  /// Goes on to `at` at once, or to the world's end: the world advances, the engine makes one step there, for all that
  /// happened by itself. Requires: not over, awaits no answer, at > now.
  void skip_to(Instant at);
  /// The next whole second, or the next solution that is known.
  [[nodiscard]] Instant next_stop() const;
  [[nodiscard]] Instant now() const { return now_; }
  /// The world's end is reached, or no plan can exist.
  [[nodiscard]] bool is_over() const { return infeasible_.has_value() || now_ == world_->end(); }

  /// The solution of a question that was solved elsewhere. The next `advance` delivers it, and does nothing else,
  /// unless it is due later (Solving::kElsewhereWaiting).
  void answer(SolveFinished finished);
  /// Whether the world waits for `answer`: `advance` must not be called.
  [[nodiscard]] bool awaits_answer() const { return awaited_at_.has_value(); }
  /// How many orders it gave the world; each is carried out at once.
  [[nodiscard]] std::uint64_t order_count() const { return order_count_; }

  /// Orders from outside (GpuScheduled, PlanApproved ..) at this instant. One step applies them at once, unless the
  /// loop is over.
  void command(const Event& event);
  void command(const std::vector<Event>& events);
  /// Sets (removes) a service, in the world at once and for the engine with the step that must follow.
  void set_service(const ServiceSet& set);
  void remove_service(ServiceId service);
  /// That step, for all services set and removed since the last one.
  void step_for_services();
  /// World::admit.
  [[nodiscard]] Result<std::uint64_t> admit(const FaultOrder& order) { return world_->admit(order); }
  /// Injects a fault that was admitted just now; the engine sees the effects at once.
  void inject(std::uint64_t id, const FaultOrder& order);

  /// A device's report: what exists on a GPU now, that it is lost, or back. The engine sees at once what is new.
  void see_gpu(GpuId gpu, const world::ObservedLayout& layout);
  void lose_gpu(GpuId gpu, const std::string& reason);
  void return_gpu(GpuId gpu);
  /// World::give_out_device_actions; the engine sees the end of an action at once.
  void give_out_device_actions() { world_->give_out_device_actions(); }
  void end_device_action(const world::DeviceActionEnd& end);
  /// Programs on slices (world::SliceTable): the engine sees at once that a slice serves, or goes.
  [[nodiscard]] std::vector<world::ProgramSlice> program_slices() { return world_->program_slices(); }
  bool adopt(const Slice& slice, ServiceId service, std::uint64_t number);
  void program_ready(const Slice& slice, std::uint64_t generation);
  void program_gone(const Slice& slice, std::uint64_t generation);
  void program_failed(const Slice& slice, std::uint64_t generation, const std::string& why);
  /// Seconds of services that were measured outside: the engine sees them with its next step.
  void see_second(const ServiceSecond& second) {
    observe({.at = Instant::at_second(second.second + 1), .what = second});
  }

  [[nodiscard]] const Engine& engine() const { return *engine_; }
  /// A new engine with the loop's stages and rules.
  [[nodiscard]] std::unique_ptr<Engine> new_engine(const Scenario& scenario) const;
  /// Continues with another engine, which must know the same.
  void exchange_engine(std::unique_ptr<Engine> engine) { engine_ = std::move(engine); }
  /// Requires: begun or resumed.
  [[nodiscard]] const World& world() const { return *world_; }
  [[nodiscard]] std::vector<GpuId> take_changed_gpus() { return world_->take_changed_gpus(); }
  [[nodiscard]] bool take_is_world_changed() { return world_->take_is_changed(); }
  /// World::sm_time, for the figures of a running world.
  [[nodiscard]] SmTime sm_time() { return world_->sm_time(); }
  [[nodiscard]] const std::optional<std::string>& infeasible() const { return infeasible_; }
  [[nodiscard]] const Refusals& refusals() const { return refusals_; }
  /// The seconds of a loop that is over which the engine will not see.
  [[nodiscard]] std::vector<ServiceSecond> take_unseen_seconds();
  /// Ends the world and hands it over. Requires: over, and not infeasible. The loop is then useless.
  [[nodiscard]] std::unique_ptr<World> finish();

 private:
  /// A known solution that is not delivered yet.
  struct PendingSolution {
    Instant due_at;
    SolveFinished finished;
  };
  void observe_history();
  [[nodiscard]] bool may_step();
  void delay(const Event& event);
  void observe(const Event& event);
  void deliver();
  void deliver_observations();
  void deliver_solution();
  void step();
  /// A solution that is already due takes effect in a step of its own, before anything else happens. Returns whether
  /// there was one.
  bool take_due_solutions();
  [[nodiscard]] StepAnswer step_engine();
  void act_on(StepAnswer answer);
  /// Carries the order out. While a session is repeated, keeps it for later unless the world has carried it out
  /// already.
  void give(Order order);
  void execute(const Order& order);
  /// The same for an order from before the process began: its impossible parts are left out.
  void execute_late(Order& order);
  /// Gives the engine the world's events, and makes a step if there are any.
  void see_world();
  void note_seen(const Event& event);
  /// Seconds that the engine had not seen when the process ended: their arrivals, counted again.
  void feed_missed_seconds();
  void solve(SolveRequest request);
  /// What the engine learnt of rows before need not be reported again.
  void mark_known_rows(WorldMemory& memory) const;
  /// The question that was open when the other loop ended: its answer is known, or it is asked again.
  void ask_again(LoopReplay& replay);

  const Scenario scenario_;  ///< as it was at the beginning
  MakeStages make_stages_;
  LoopOptions options_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Engine> engine_;
  Instant now_;
  std::optional<std::string> infeasible_;
  Refusals refusals_;
  std::deque<Event> observations_;  ///< not yet visible to the engine
  std::optional<PendingSolution> pending_;
  std::optional<Instant> awaited_at_;  ///< when the answer that the world waits for will be due
  Instant stepped_at_;
  int steps_there_ = 0;
  std::uint64_t order_count_ = 0;
  std::vector<std::int64_t> seen_until_;  ///< LoopMemory::seen_until
  std::optional<LoopReplay> replay_;      ///< while a session is repeated
};

}  // namespace berth::sim
