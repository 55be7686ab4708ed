#include "sim/world/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "sim/world/find_news.h"
#include "world/slices/reconcile.h"

namespace berth::sim {

Loop::Loop(const Scenario& scenario, MakeStages make_stages, LoopOptions options)
    : scenario_(scenario),
      make_stages_(std::move(make_stages)),
      options_(std::move(options)),
      world_(std::make_unique<World>(scenario_, options_.seed, options_.world, options_.listener.journal)),
      engine_(new_engine(scenario_)) {}

Loop::~Loop() = default;

std::unique_ptr<Engine> Loop::new_engine(const Scenario& scenario) const {
  return std::make_unique<Engine>(scenario, make_stages_,
                                  EngineRules{.is_strict = options_.is_strict,
                                              .has_warm_pools = options_.has_warm_pools,
                                              .approval = options_.approval,
                                              .first_layout_takes_time = options_.first_layout_takes_time});
}

// ---- the clock

void Loop::begin(const std::vector<Event>& orders, const std::map<GpuId, world::ObservedLayout>& layouts) {
  observe_history();
  for (const Event& event : world_->take_events()) observe(event);  // GPUs that are absent
  for (const Event& order : orders) observe(order);
  for (const auto& [gpu, layout] : layouts) world_->see_gpu(gpu, layout, now_);
  for (const Event& event : world_->take_events()) delay(event);
  step();
}

bool Loop::advance(Instant until) {
  ENSURE(!is_over() && !awaits_answer());
  if (take_due_solutions()) return true;
  const Instant stop = next_stop();
  now_ = world_->advance(std::min(until, stop), stop);
  const std::vector<Event> events = world_->take_events();
  if (now_ < stop && events.empty()) return false;
  for (const Event& event : events) delay(event);
  if (now_ == world_->end()) return true;
  deliver();
  if (may_step()) step();
  return true;
}

void Loop::skip_to(Instant at) {
  ENSURE(!is_over() && !awaits_answer() && at > now_);
  now_ = std::min(at, world_->end());
  std::vector<Event> events;  // seen when the world has arrived: not before what it still records
  for (bool is_there = false; !is_there;) {
    is_there = world_->advance(now_) == now_;
    std::ranges::move(world_->take_events(), std::back_inserter(events));
  }
  for (Event& event : events) {
    if (!std::holds_alternative<ServiceSecond>(event.what)) event.at = now_;  // when it was seen
    delay(event);
  }
  if (now_ == world_->end()) return;
  deliver();
  if (may_step()) step();
}

Instant Loop::next_stop() const {
  const Instant second = std::min(Instant::at_second(now_.second() + 1), world_->end());
  return pending_ ? std::min(second, pending_->due_at) : second;
}

/// Limits the steps at one instant: a policy whose free and immediate changes lead to further ones would otherwise stay
/// there forever. After the limit it waits for the next instant.
bool Loop::may_step() {
  constexpr int kStepsAtOneInstantMax = 100;
  if (now_ != stepped_at_) steps_there_ = 0;
  stepped_at_ = now_;
  return ++steps_there_ <= kStepsAtOneInstantMax;
}

std::vector<ServiceSecond> Loop::take_unseen_seconds() {
  ENSURE(is_over());
  std::vector<ServiceSecond> seconds;
  for (const Event& event : std::exchange(observations_, {})) seconds.push_back(std::get<ServiceSecond>(event.what));
  return seconds;
}

std::unique_ptr<World> Loop::finish() {
  ENSURE(is_over() && !infeasible_);
  world_->finish();
  return std::move(world_);
}

// ---- continuing where another loop ended

bool Loop::is_at_rest() const {
  const bool is_asking = engine_->has_open_question() || pending_ || awaited_at_;
  return !is_asking && !engine_->has_unapplied_events() && !infeasible_ && !replay_;
}

LoopMemory Loop::memory() const {
  ENSURE(is_at_rest());
  return {.now = now_,
          .engine = engine_->memory(),
          .order_count = order_count_,
          .seen_until = seen_until_,
          .refusals = refusals_};
}

Result<std::vector<std::string>> Loop::restore(const LoopMemory& memory, const Scenario& scenario) {
  auto restored = new_engine(scenario);
  auto begun_anew = restored->restore(memory.engine);
  if (!begun_anew) return begun_anew;
  engine_ = std::move(restored);
  now_ = memory.now;
  order_count_ = memory.order_count;
  seen_until_ = memory.seen_until;
  refusals_ = memory.refusals;
  return begun_anew;
}

void Loop::replay_after(std::uint64_t carried_out) {
  Scenario scenario = scenario_;
  scenario.services = engine_->scenario().services;
  std::vector<std::uint64_t> revisions;
  for (const ServiceState& service : engine_->snapshot().services) {
    revisions.push_back(set_revision(service.revision));
  }
  replay_.emplace(carried_out, std::move(scenario), std::move(revisions));
}

void Loop::replay_to(Instant at) {
  ENSURE(replay_ && at >= now_);
  now_ = at;
}

void Loop::replay_step() {
  ENSURE(replay_);
  act_on(step_engine());
}

void Loop::replay_answer(SolveFinished finished) {
  ENSURE(replay_);
  replay_->set_answer(std::move(finished));
}

void Loop::replay_end() {
  ENSURE(replay_);
  if (engine_->has_unapplied_events()) act_on(step_engine());
  // Where the world waits for the solver, an answer is due at a set time.
  const bool is_due =
      options_.solving != Solving::kElsewhereWaiting && replay_->has_answer() && engine_->has_open_question();
  if (!is_due) return;
  observe({.at = now_, .what = replay_->take_answer()});
  act_on(step_engine());
}

void Loop::resume(WorldLeft left) {
  ENSURE(replay_);
  LoopReplay replay = std::move(*std::exchange(replay_, std::nullopt));
  now_ = left.world.now = std::max(left.world.now, now_);
  const std::set<Slice> to_destroy = replay.adapt(engine_->last_numbers(), left.devices);
  world_ = std::make_unique<World>(replay.scenario(), options_.seed, options_.world, options_.listener.journal);
  world_->set_speeds(engine_->scenario().speeds);
  mark_known_rows(left.world);
  world_->resume(left.world, left.devices, replay.revisions());
  if (options_.world.has_load) feed_missed_seconds();
  for (const Event& event :
       find_news(engine_->snapshot(), left.devices, left.world.services, to_destroy, left.losses, now_)) {
    observe(event);
  }
  for (const Event& event : world_->take_events()) delay(event);
  step();
  for (Order& order : replay.left()) execute_late(order);
  see_world();
  ask_again(replay);
}

void Loop::mark_known_rows(WorldMemory& memory) const {
  for (std::uint32_t index = 0; index < memory.services.size(); ++index) {
    for (auto& [gpu, batches] : memory.services[index].batches) {
      if (engine_->knows_rows({index}, gpu)) batches = kKnownBatches;
    }
  }
}

void Loop::ask_again(LoopReplay& replay) {
  std::optional<SolveRequest>& asked = replay.asked();
  if (!asked || !engine_->has_open_question()) return;
  if (!replay.has_answer()) return solve(std::move(*asked));
  const bool has_its_time = options_.solving == Solving::kElsewhereWaiting;
  pending_ = {.due_at = has_its_time ? std::max(now_, asked->acts_at) : now_, .finished = replay.take_answer()};
}

void Loop::feed_missed_seconds() {
  const std::size_t count = engine_->snapshot().services.size();
  for (std::int64_t second = std::max<std::int64_t>(0, now_.second() - seen_seconds(scenario_)); second < now_.second();
       ++second) {
    for (std::uint32_t index = 0; index < std::min(count, world_->arrivals().streams().size()); ++index) {
      if (index < seen_until_.size() && second <= seen_until_[index]) continue;
      if (engine_->snapshot().services[index].is_absent) continue;
      ServiceSecond seen;
      seen.service = {index};
      seen.second = second;
      seen.arrivals = world_->arrivals().count({index}, second);
      delay({.at = Instant::at_second(second + 1), .what = seen});
    }
  }
  deliver();
}

// ---- orders to the world

void Loop::give(Order order) {
  ++order_count_;
  options_.listener.order(order);
  if (replay_) {
    replay_->give(order_count_, std::move(order));
  } else {
    execute(order);
  }
}

void Loop::execute(const Order& order) {
  std::visit(Overloaded{
                 [&](const PlanOrder& given) { world_->act(given.plan, now_, given.is_first_layout); },
                 [&](const ServiceSet& set) { world_->set_service(set, now_); },
                 [&](const ServiceRemoved& removed) { world_->remove_service(removed.service, now_); },
                 [&](const FaultInjection& injected) { world_->inject(injected.id, injected.fault, now_); },
             },
             order);
}

void Loop::execute_late(Order& order) {
  if (auto* injected = std::get_if<FaultInjection>(&order)) {
    std::erase_if(injected->fault.gpus, [&](GpuId gpu) {
      FaultOrder alone = injected->fault;
      alone.gpus = {gpu};
      return world_->find_reason_against(alone).has_value();
    });
  }
  execute(order);
}

void Loop::see_gpu(GpuId gpu, const world::ObservedLayout& layout) {
  world_->see_gpu(gpu, layout, now_);
  see_world();
}

void Loop::lose_gpu(GpuId gpu, const std::string& reason) {
  world_->lose_gpu(gpu, now_, reason);
  see_world();
}

void Loop::return_gpu(GpuId gpu) {
  world_->return_gpu(gpu, now_);
  see_world();
}

void Loop::end_device_action(const world::DeviceActionEnd& end) {
  world_->end_device_action(end, now_);
  see_world();
}

bool Loop::adopt(const Slice& slice, ServiceId service, std::uint64_t number) {
  const bool is_adopted = world_->adopt(slice, service, number, now_);
  see_world();
  return is_adopted;
}

void Loop::program_ready(const Slice& slice, std::uint64_t generation) {
  world_->program_ready(slice, generation, now_);
  see_world();
}

void Loop::program_gone(const Slice& slice, std::uint64_t generation) {
  world_->program_gone(slice, generation, now_);
  see_world();
}

void Loop::program_failed(const Slice& slice, std::uint64_t generation, const std::string& why) {
  world_->program_failed(slice, generation, why, now_);
  see_world();
}

void Loop::see_world() {
  const std::vector<Event> events = world_->take_events();
  for (const Event& event : events) delay(event);
  if (!events.empty() && !is_over()) step();
}

// ---- from outside

void Loop::command(const Event& event) { command(std::vector<Event>{event}); }

void Loop::command(const std::vector<Event>& events) {
  for (const Event& event : events) observe(event);
  if (!is_over() && !replay_) step();
}

void Loop::set_service(const ServiceSet& set) {
  give(set);
  observe({.at = now_, .what = set});
}

void Loop::remove_service(ServiceId service) {
  give(ServiceRemoved{service});
  observe({.at = now_, .what = ServiceRemoved{service}});
}

void Loop::step_for_services() {
  command(std::vector<Event>());
  for (const Event& event : world_->take_events()) delay(event);
}

void Loop::inject(std::uint64_t id, const FaultOrder& order) {
  give(FaultInjection{.id = id, .fault = order});
  see_world();
}

// ---- events to the engine

void Loop::observe_history() {
  std::int64_t known_seconds = 0;
  for (const ServiceSpec& service : scenario_.services) {
    known_seconds = std::max(known_seconds, service.arrivals.from_second);
  }
  for (std::int64_t second = -std::min(scenario_.history_seconds, known_seconds); second < 0; ++second) {
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      const auto arrivals = world_->arrivals().history(ServiceId{index}, second);
      if (!arrivals) continue;
      ServiceSecond seen;
      seen.service = ServiceId{index};
      seen.second = second;
      seen.arrivals = *arrivals;
      delay({.at = Instant::at_second(second + 1), .what = seen});
    }
  }
  deliver();
}

void Loop::delay(const Event& event) {
  const bool is_observation = std::holds_alternative<ServiceSecond>(event.what);
  if (is_observation && scenario_.observation_delay > Micros()) {
    observations_.push_back(event);
  } else {
    observe(event);
  }
}

void Loop::observe(const Event& event) {
  note_seen(event);
  options_.listener.event(event);
  engine_->observe(event);
  const auto* speed = std::get_if<SpeedMeasured>(&event.what);
  if (speed != nullptr && !replay_) world_->note_speed(*speed, now_);
}

void Loop::deliver() {
  deliver_observations();
  if (pending_ && pending_->due_at <= now_) deliver_solution();
}

void Loop::deliver_observations() {
  while (!observations_.empty() && observations_.front().at + scenario_.observation_delay <= now_) {
    observe(observations_.front());
    observations_.pop_front();
  }
}

void Loop::deliver_solution() {
  observe({.at = now_, .what = std::move(pending_->finished)});
  pending_.reset();
}

// ---- steps, questions and plans

void Loop::step() {
  act_on(step_engine());
  static_cast<void>(take_due_solutions());
}

bool Loop::take_due_solutions() {
  bool is_taken = false;
  while (pending_ && pending_->due_at <= now_) {
    deliver_solution();
    act_on(step_engine());
    is_taken = true;
  }
  return is_taken;
}

StepAnswer Loop::step_engine() {
  deliver_observations();
  return engine_->step(now_);
}

void Loop::act_on(StepAnswer answer) {
  options_.listener.answer(answer);
  for (const TierChoice& choice : answer.tiers) {
    if (!replay_) options_.listener.journal(TierRecord{.at = now_, .service = choice.service, .choice = choice});
  }
  for (const WarmDecision& decision : answer.warm) {
    if (!replay_) options_.listener.journal(WarmRecord{.at = now_, .decision = decision});
  }
  if (answer.refused && refusals_.count++ == 0) {
    refusals_.first = fmt::format("at second {}: {}", (now_ - Instant()).to_seconds(), *answer.refused);
  }
  infeasible_ = std::move(answer.infeasible);
  if (!answer.plan.is_empty()) {
    options_.listener.plan(answer.plan, now_);
    give(PlanOrder{.plan = std::move(answer.plan), .is_first_layout = answer.is_first_layout});
  }
  if (answer.request) solve(std::move(*answer.request));
}

void Loop::note_seen(const Event& event) {
  if (replay_ && std::holds_alternative<SolveFinished>(event.what)) replay_->close_question();
  const auto* second = std::get_if<ServiceSecond>(&event.what);
  if (second == nullptr) return;
  if (second->service.index >= seen_until_.size()) seen_until_.resize(second->service.index + std::size_t{1}, -1);
  seen_until_[second->service.index] = second->second;
}

void Loop::solve(SolveRequest request) {
  if (replay_) return replay_->ask(std::move(request));
  if (options_.solving != Solving::kAtOnce) {
    if (options_.solving == Solving::kElsewhereWaiting) awaited_at_ = request.acts_at;
    options_.listener.question(std::move(request));
    return;
  }
  // Solved at once, and delivered when it is due.
  auto solution = std::make_shared<const Solution>(request.solve());
  options_.listener.solution(*request.posed, *solution);
  pending_ = {.due_at = request.acts_at, .finished = {.question = request.question, .solution = std::move(solution)}};
}

void Loop::answer(SolveFinished finished) {
  ENSURE(!pending_);
  pending_ = {.due_at = std::exchange(awaited_at_, std::nullopt).value_or(now_), .finished = std::move(finished)};
}

}  // namespace berth::sim
