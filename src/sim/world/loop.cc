#include "sim/world/loop.h"

#include <fmt/format.h>

#include <algorithm>
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
      world_(std::make_unique<World>(scenario_, options_.seed, options_.world, options_.journal)),
      engine_(new_engine(scenario_)) {}

/// An engine that has seen nothing.
std::unique_ptr<Engine> Loop::new_engine(const Scenario& scenario) const {
  return std::make_unique<Engine>(scenario, make_stages_,
                                  EngineRules{.is_strict = options_.is_strict,
                                              .approval = options_.approval,
                                              .first_layout_takes_time = options_.first_layout_takes_time});
}

// ---- the clock

void Loop::begin(const std::vector<Event>& orders, const std::map<GpuId, world::ObservedLayout>& layouts) {
  observe_history();
  for (const Event& event : world_->take_events()) observe(event);  // GPUs that are not there
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

Instant Loop::next_stop() const {
  const Instant second = std::min(Instant::at_second(now_.second() + 1), world_->end());
  return pending_ ? std::min(second, pending_->due_at) : second;
}

/// Limits the steps at one instant: a policy whose free and immediate changes lead to further ones would otherwise stay
/// there for ever. After the limit it waits for the next instant.
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

// ---- going on where another loop ended

bool Loop::is_at_rest() const {
  const bool is_asking = engine_->has_open_question() || pending_ || awaited_at_;
  return !is_asking && !engine_->has_unapplied_events() && !infeasible_ && !repeated_;
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
  repeated_ = Repeated{
      .carried_out = carried_out, .scenario = scenario_, .revisions = {}, .left = {}, .asked = {}, .answer = {}};
  repeated_->scenario.services = engine_->scenario().services;
  for (const ServiceState& service : engine_->snapshot().services) repeated_->revisions.push_back(service.revision);
}

void Loop::replay_to(Instant at) {
  ENSURE(repeated_ && at >= now_);
  now_ = at;
}

void Loop::replay_step() {
  ENSURE(repeated_);
  act_on(step_engine());
}

void Loop::replay_answer(SolveFinished finished) {
  ENSURE(repeated_);
  repeated_->answer = std::move(finished);
}

void Loop::pass_over(const Order& order) {
  SharedList<ServiceSpec>& services = repeated_->scenario.services;
  if (const auto* set = std::get_if<ServiceSet>(&order)) {
    const std::size_t index = set->service.index;
    services.set_shared(index, set->spec);
    repeated_->revisions.resize(services.size());
    repeated_->revisions[index] = set->revision;
  } else if (const auto* removed = std::get_if<ServiceRemoved>(&order)) {
    const std::size_t index = removed->service.index;
    services.set(index, absent_service(std::as_const(services)[index]));
  }
}

void Loop::replay_end() {
  ENSURE(repeated_);
  if (engine_->has_unapplied_events()) act_on(step_engine());
  // Where the world waits for the solver, an answer has its time.
  const bool is_due = !options_.waits_for_solver && repeated_->answer && repeated_->asked &&
                      repeated_->answer->question == repeated_->asked->question && engine_->has_open_question();
  if (!is_due) return;
  observe({.at = now_, .what = std::move(*std::exchange(repeated_->answer, std::nullopt))});
  act_on(step_engine());
}

void Loop::resume(WorldLeft left) {
  ENSURE(repeated_);
  Repeated repeated = std::move(*std::exchange(repeated_, std::nullopt));
  now_ = left.world.now = std::max(left.world.now, now_);
  std::vector<const Plan*> plans_left;
  for (const Order& order : repeated.left) {
    if (const auto* given = std::get_if<PlanOrder>(&order)) plans_left.push_back(&given->plan);
  }
  world::forget_passed(engine_->last_numbers(), plans_left, left.devices);
  std::set<Slice> to_destroy;
  std::vector<std::set<Slice>> standing = world::staying_slices(left.devices);
  for (Order& order : repeated.left) {
    auto* given = std::get_if<PlanOrder>(&order);
    if (given == nullptr) continue;
    world::drop_impossible(standing, left.devices, given->plan);
    for (const Action& action : given->plan.actions) {
      if (const auto* destroyed = std::get_if<DestroySlice>(&action.what)) to_destroy.insert(destroyed->slice);
    }
  }
  world_ = std::make_unique<World>(repeated.scenario, options_.seed, options_.world, options_.journal);
  world_->resume(left.world, left.devices, repeated.revisions);
  if (options_.world.has_load) feed_missed_seconds();
  for (const Event& event :
       find_news(engine_->snapshot(), left.devices, left.world.services, to_destroy, left.losses, now_)) {
    observe(event);
  }
  for (const Event& event : world_->take_events()) delay(event);
  step();
  for (Order& order : repeated.left) execute_late(order);
  see_world();
  if (!repeated.asked || !engine_->has_open_question()) return;
  if (repeated.answer && repeated.answer->question == repeated.asked->question) {
    pending_ = {.due_at = std::max(now_, repeated.asked->acts_at), .finished = std::move(*repeated.answer)};
    if (!options_.waits_for_solver) pending_->due_at = now_;
  } else {
    solve(std::move(*repeated.asked));
  }
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
  if (options_.ordered) options_.ordered(order);
  if (!repeated_) {
    execute(order);
  } else if (order_count_ <= repeated_->carried_out) {
    pass_over(order);
  } else {
    repeated_->left.push_back(std::move(order));
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

void Loop::see_world() {
  const std::vector<Event> events = world_->take_events();
  for (const Event& event : events) delay(event);
  if (!events.empty() && !is_over()) step();
}

// ---- from outside

void Loop::command(const Event& event) { command(std::vector<Event>{event}); }

void Loop::command(const std::vector<Event>& events) {
  for (const Event& event : events) observe(event);
  if (!is_over() && !repeated_) step();
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
  if (options_.observed) options_.observed(event);
  engine_->observe(event);
  if (options_.rebuilds_engine_at) observed_.push_back(event);
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
  StepAnswer answer = engine_->step(now_);
  const bool may_restore = options_.restores_engine_at && !engine_->has_open_question();
  if (may_restore && options_.restores_engine_at(now_)) restore_engine();
  if (!options_.rebuilds_engine_at) return answer;
  log_.push_back({.now = now_, .events = std::exchange(observed_, {})});
  if (options_.rebuilds_engine_at(now_)) rebuild_engine();
  return answer;
}

/// Nothing is solved: the solutions are events.
void Loop::rebuild_engine() {
  engine_ = new_engine(scenario_);
  for (const LoggedStep& logged : log_) {
    for (const Event& event : logged.events) engine_->observe(event);
    static_cast<void>(engine_->step(logged.now));
  }
}

/// Everything goes through bytes.
void Loop::restore_engine() {
  const auto memory = from_bytes<EngineMemory>(bytes_of(engine_->memory()));
  ENSURE(memory.has_value());
  auto restored = new_engine(engine_->scenario());
  const auto begun_anew = restored->restore(*memory);
  ENSURE(begun_anew.has_value() && begun_anew->empty());
  engine_ = std::move(restored);
}

void Loop::act_on(StepAnswer answer) {
  if (options_.answered) options_.answered(answer);
  if (answer.refused && refusals_.count++ == 0) {
    refusals_.first = fmt::format("at second {}: {}", (now_ - Instant()).to_seconds(), *answer.refused);
  }
  infeasible_ = std::move(answer.infeasible);
  if (!answer.plan.is_empty()) {
    if (options_.plan_made) options_.plan_made(answer.plan, now_);
    give(PlanOrder{.plan = std::move(answer.plan), .is_first_layout = answer.is_first_layout});
  }
  if (answer.request) solve(std::move(*answer.request));
}

void Loop::note_seen(const Event& event) {
  if (repeated_ && std::holds_alternative<SolveFinished>(event.what)) repeated_->asked.reset();
  const auto* second = std::get_if<ServiceSecond>(&event.what);
  if (second == nullptr) return;
  if (second->service.index >= seen_until_.size()) seen_until_.resize(second->service.index + std::size_t{1}, -1);
  seen_until_[second->service.index] = second->second;
}

void Loop::solve(SolveRequest request) {
  if (repeated_) {
    repeated_->asked = std::move(request);
    return;
  }
  if (options_.solve_elsewhere) {
    if (options_.waits_for_solver) awaited_at_ = request.acts_at;
    options_.solve_elsewhere(std::move(request));
    return;
  }
  // Solved at once, and delivered when it is due.
  auto solution = std::make_shared<const Solution>(request.solve());
  if (options_.solved) options_.solved(*request.posed, *solution);
  pending_ = {.due_at = request.acts_at, .finished = {.question = request.question, .solution = std::move(solution)}};
}

void Loop::answer(SolveFinished finished) {
  ENSURE(!pending_);
  pending_ = {.due_at = std::exchange(awaited_at_, std::nullopt).value_or(now_), .finished = std::move(finished)};
}

}  // namespace berth::sim
