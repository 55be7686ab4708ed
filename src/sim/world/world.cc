#include "sim/world/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "domain/values/gpu_name.h"

namespace berth::sim {

World::World(const Scenario& scenario, std::uint64_t seed, const WorldOptions& options, JournalSink journal)
    : scenario_(scenario),
      journal_(std::move(journal)),
      second_measured_(options.second_measured),
      batches_measured_(options.batches_measured),
      seed_(seed),
      end_(options.is_endless ? Instant::never() : Instant::at_second(scenario.simulated_seconds())),
      is_rough_(options.is_rough),
      has_load_(options.has_load),
      only_(options.only),
      arrivals_(scenario_, seed, options.only, options.is_endless ? Laps::kEndless : Laps::kOne),
      busy_(scenario.gpu_count(), scenario.services.size()),
      tables_(scenario_, options.sharing),
      simulated_driver_(scenario_, faults_),
      outside_driver_(options.programs),
      slices_(scenario_, slice_journal(), busy_,
              options.devices == Devices::kOutside ? static_cast<SliceDriver&>(outside_driver_) : simulated_driver_),
      rented_(scenario_, options.gpus_at_start, journal_),
      serving_(scenario_, arrivals_.streams(), meters_, busy_, options.dispatch),
      least_chosen_sm_us_(scenario.services.size()),
      arrivals_from_(scenario.services.size()),
      revisions_(scenario.services.size()) {
  for (std::uint32_t gpu = options.gpus_at_start.value_or(scenario.gpu_count()); gpu < scenario.gpu_count(); ++gpu) {
    events_.push_back({.at = now_, .what = GpuRented{.gpu = {gpu}, .is_here = false}});
  }
  if (!has_load_) arrivals_.silence_all();
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    meters_.emplace_back(ServiceId{index}, arrivals_.streams()[index], journal_);
    if (second_measured_) meters_.back().keep_recent();
    const std::optional<Retraining>& spec = scenario.services[index].retraining;
    const bool retrains = spec && !is_silent(index);
    retrainings_.push_back(retrains ? std::optional(RetrainingClock(*spec, end_)) : std::nullopt);
    if (retrains) retraining_times_.emplace(retrainings_[index]->next_time(), index);
  }
}

world::SliceJournal World::slice_journal() {
  if (!journal_) return {};
  return [this](const auto& record) { std::visit([this](const auto& each) { journal_(each); }, record); };
}

// ---- memory for the next process

WorldMemory World::memory() const {
  WorldMemory memory{.now = now_,
                     .faults = faults().waiting(),
                     .last_fault = faults().last_id(),
                     .services = {},
                     .common_way = serving_.common_way()};
  memory.services.reserve(retrainings_.size());
  for (std::uint32_t index = 0; index < retrainings_.size(); ++index) {
    ServiceMemory& service = memory.services.emplace_back();
    if (retrainings_[index]) service.retraining = retrainings_[index]->memory();
    service.is_by_rates = serving_.is_by_rates({index});
    service.revision = revisions_[index];
    service.batches = serving_.counted_batches({index});
    service.arrivals = arrivals_from_[index];
    const auto to_begin = new_arrivals_.find({index});
    if (to_begin != new_arrivals_.end()) service.arrivals = {.number = to_begin->second, .is_to_begin = true};
  }
  return memory;
}

world::DeviceMemory World::memory_of(GpuId gpu) const {
  world::DeviceMemory memory = slices_.memory_of(gpu);
  memory.is_lost = is_lost(gpu);
  return memory;
}

void World::resume(const WorldMemory& memory, const std::vector<world::DeviceMemory>& devices,
                   const std::vector<std::uint64_t>& revisions) {
  ENSURE(now_ == Instant() && open_second_ == -1 && devices.size() == scenario_.gpu_count());
  now_ = memory.now;
  const bool is_boundary = now_ == Instant::at_second(now_.second());
  open_second_ = is_boundary ? now_.second() - 1 : now_.second();
  static_cast<void>(serving_.advance(now_.micros()));
  serving_.catch_up(now_.micros());
  serving_.restore_ways(resume_services(memory.services, revisions), memory.common_way);
  faults_.resume(memory.faults, memory.last_fault);
  for (const WaitingFault& fault : memory.faults) {
    if (fault.order.kind == FaultKind::kServing) set_truth(*fault.order.serving->service);
  }
  for (std::uint32_t gpu = 0; gpu < devices.size(); ++gpu) {
    if (devices[gpu].is_lost) lost_gpus_.insert({gpu});
  }
  slices_.resume(devices, now_);
  settle_effects(now_);
}

std::vector<bool> World::resume_services(const std::vector<ServiceMemory>& services,
                                         const std::vector<std::uint64_t>& revisions) {
  ENSURE(revisions.size() == scenario_.services.size());
  revisions_ = revisions;
  std::vector<bool> ways(revisions.size());
  for (std::uint32_t index = 0; index < revisions.size(); ++index) {
    const ServiceId id{index};
    const std::shared_ptr<const ServiceSpec> spec = scenario_.services.share(index);
    stop_retraining(id, now_);
    const bool is_known = index < services.size() && services[index].revision == revisions[index];
    if (spec->is_absent) arrivals_.silence(id);
    if (!is_known && !spec->is_absent) {
      arrivals_.silence(id);
      new_arrivals_[id] = revisions[index];
      restart_retraining(id, now_);
    }
    if (!is_known || spec->is_absent) continue;
    ways[index] = services[index].is_by_rates;
    serving_.restore_batches(id, services[index].batches);
    if (spec->retraining && services[index].retraining && !is_silent(index)) {
      retrainings_[index].emplace(*spec->retraining, end_, *services[index].retraining, now_);
      retraining_times_.emplace(retrainings_[index]->next_time(), index);
      serving_.set_stale(id, retrainings_[index]->is_stale());
    }
    const ArrivalsMemory& from = services[index].arrivals;
    if (from.is_to_begin) {
      arrivals_.silence(id);
      new_arrivals_[id] = from.number;
      continue;
    }
    arrivals_from_[index] = from;
    if (from.number == 0) continue;
    arrivals_.begin(id, std::shared_ptr<const Arrivals>(spec, &spec->arrivals), from.number, from.from_second);
  }
  return ways;
}

// ---- plans

void World::act(const Plan& plan, Instant now, bool is_first_layout) {
  ENSURE(now == now_);
  if (std::ranges::any_of(plan.actions, [&](const Action& action) { return is_lost(slice_of(action.what).gpu); })) {
    Plan possible = plan;
    std::erase_if(possible.actions, [&](const Action& action) {
      const GpuId gpu = slice_of(action.what).gpu;
      if (is_lost(gpu)) slices_.pass_over(gpu, action.number);
      return is_lost(gpu);
    });
    return act(possible, now, is_first_layout);
  }
  if (is_first_layout) choose_ways(plan);
  order_gpus(plan, now);
  serving_.catch_up(now.micros());
  slices_.act(slices_.take_possible(plan, now), now, is_first_layout);
  settle_effects(now);
  give_back_gpus(now);
  serving_.take_all(now.micros());
}

void World::order_gpus(const Plan& plan, Instant now) {
  for (const GpuOrder& order : plan.gpu_orders) {
    if (!order.is_release) {
      rented_.order(order.gpu, now);
    } else if (rented_.release(order.gpu, now)) {
      events_.push_back({.at = now, .what = GpuRented{.gpu = order.gpu, .is_here = false}});
    }
  }
  note_arrived_gpus(now);
}

void World::note_arrived_gpus(Instant now) {
  for (const GpuId gpu : rented_.take_arrived(now)) {
    events_.push_back({.at = now, .what = GpuRented{.gpu = gpu, .is_here = true}});
  }
}

void World::give_back_gpus(Instant now) {
  const std::set<GpuId> leaving = rented_.leaving();
  for (const GpuId gpu : leaving) {
    if (slices_.has_slices(gpu)) continue;
    rented_.give_back(gpu, now);
    events_.push_back({.at = now, .what = GpuRented{.gpu = gpu, .is_here = false}});
  }
}

void World::choose_ways(const Plan& plan) {
  std::vector<double> per_second(scenario_.services.size(), 0);
  bool has_shared_slices = false;
  for (const Action& action : plan.actions) {
    const auto* given = std::get_if<AssignSlice>(&action.what);
    if (given == nullptr || given->holding.role != Role::kInference) continue;
    const std::vector<ServiceId>& services = given->holding.services;
    has_shared_slices = has_shared_slices || services.size() > 1;
    for (const ServiceId service : services) {
      const auto table = tables_.find(service, given->holding.slice, services.size(), given->point);
      if (table) per_second[service.index] += table->point.requests_per_second.to_double();
    }
  }
  serving_.choose_ways(per_second, has_shared_slices, is_rough_);
}

void World::lose_gpu(GpuId gpu, Instant now, const std::string& reason) {
  ENSURE(now == now_);
  if (!lost_gpus_.insert(gpu).second) return;
  slices_.mark_changed(gpu);
  serving_.catch_up(now.micros());
  faults_.forget_foreign(gpu);
  slices_.lose(gpu, now);
  settle_effects(now);
  slices_.forget_lost();
  events_.push_back({.at = now, .what = GpuLost{.gpu = gpu, .reason = reason}});
  serving_.take_all(now.micros());
}

void World::return_gpu(GpuId gpu, Instant now) {
  ENSURE(now == now_);
  if (lost_gpus_.erase(gpu) == 0) return;
  slices_.mark_changed(gpu);
  events_.push_back({.at = now, .what = GpuReturned{gpu}});
}

// ---- faults

std::optional<Error> World::find_reason_against(const FaultOrder& order) const {
  const bool waits =
      order.kind != FaultKind::kLose && order.kind != FaultKind::kReturn && order.kind != FaultKind::kClear;
  if (waits && faults().is_full()) {
    return Error{.message = fmt::format("wanted at most {} waiting faults; clear some", FaultBook::kCapacity)};
  }
  if (order.kind == FaultKind::kServing && has_service(*order.serving->service) &&
      serving_.is_by_rates(*order.serving->service)) {
    return Error{.message = fmt::format("{} is served by rates, which has no single batches",
                                        service_label(scenario_, *order.serving->service))};
  }
  if (order.kind != FaultKind::kForeignSlice) return std::nullopt;
  for (const GpuId gpu : order.gpus) {
    if (is_lost(gpu)) return Error{.message = fmt::format("{} is lost", gpu_name(gpu))};
    if (slices_.has_room({.gpu = gpu, .start = order.start, .profile = order.profile})) continue;
    return Error{.message = fmt::format("{} has no room for {} at {}", gpu_name(gpu),
                                        profile_name(scenario_.model_of(gpu), order.profile), order.start)};
  }
  return std::nullopt;
}

Result<std::uint64_t> World::admit(const FaultOrder& order) {
  if (const auto reason = find_reason_against(order)) return pass_on(*reason);
  return faults_.next_id();
}

void World::inject(std::uint64_t id, const FaultOrder& order, Instant now) {
  ENSURE(now == now_);
  faults_.note_id(id);
  if (order.gpus.empty() && !order.serving) return;
  if (order.kind == FaultKind::kServing && !has_service(*order.serving->service)) return;
  serving_.catch_up(now.micros());
  switch (order.kind) {
    case FaultKind::kLose:
      for (const GpuId gpu : order.gpus) lose_gpu(gpu, now);
      return;
    case FaultKind::kReturn:
      for (const GpuId gpu : order.gpus) return_gpu(gpu, now);
      return;
    case FaultKind::kClear:
      clear_faults(order, now);
      return;
    case FaultKind::kForeignSlice:
      for (const GpuId gpu : order.gpus) {
        slices_.add_foreign({.gpu = gpu, .start = order.start, .profile = order.profile}, now);
      }
      settle_effects(now);
      break;
    case FaultKind::kFailCreate:
    case FaultKind::kFailDestroy:
    case FaultKind::kSlow:
    case FaultKind::kReportsFailure:
    case FaultKind::kServing:
      break;
  }
  faults_.add(id, order, now);
  if (order.serving) set_truth(*order.serving->service);
}

void World::see_gpu(GpuId gpu, const world::ObservedLayout& layout, Instant now) {
  ENSURE(now == now_ && !is_lost(gpu));
  serving_.catch_up(now.micros());
  slices_.observe(gpu, layout, now);
  settle_effects(now);
  slices_.forget_lost();
  serving_.take_all(now.micros());
}

std::vector<DeviceAction> World::device_actions() const {
  std::vector<DeviceAction> actions = outside_driver_.collected();
  std::erase_if(actions, [this](const DeviceAction& action) { return !slices_.awaits(action); });
  return actions;
}

void World::give_out_device_actions() {
  for (const DeviceAction& action : device_actions()) slices_.mark_ordered(action);
  outside_driver_.forget_collected();
}

void World::end_device_action(const world::DeviceActionEnd& end, Instant now) {
  ENSURE(now == now_);
  if (is_lost(end.slice.gpu)) return;  // nothing is awaited there
  serving_.catch_up(now.micros());
  slices_.end_device_action(end, now);
  settle_effects(now);
  serving_.take_all(now.micros());
}

void World::clear_faults(const FaultOrder& clear, Instant now) {
  faults_.clear(clear);
  for (std::uint32_t index = 0; clear.serving && index < scenario_.services.size(); ++index) set_truth({index});
  for (const GpuId gpu : clear.gpus) slices_.clear_foreign(gpu, now);
  settle_effects(now);
}

bool World::has_service(ServiceId service) const {
  return service.index < scenario_.services.size() && !scenario_.services[service.index].is_absent;
}

/// The service's batches take the time that the faults say, from the next one on.
void World::set_truth(ServiceId service) {
  const WaitingFault* fault = faults_.serving_of(service);
  if (fault == nullptr) return serving_.set_truth(service, BatchTruth());
  const ServingFault& serving = *fault->order.serving;
  serving_.set_truth(service, BatchTruth(serving.factor.to_double(), serving.jitter.to_double(),
                                         Rng(seed_).split("serving", fault->id)));
}

void World::set_speeds(const SpeedFactors& speeds) { scenario_.speeds = speeds; }

void World::note_speed(const SpeedMeasured& measured, Instant now) {
  ENSURE(now == now_);
  const ServiceId service = measured.place.service;
  if (service.index >= scenario_.services.size()) return;
  serving_.catch_up(now.micros());
  const auto before = scenario_.speeds.find(measured.place);
  const bool has_ended = !measured.factor && before != scenario_.speeds.end() && before->second.is_used;
  berth::note_speed(scenario_.speeds, measured, now);
  // As in the engine: a factor of 1 by no batch, with which replicas may get another number of processes.
  if (has_ended) scenario_.speeds[measured.place] = {.factor = Decimal(1), .batches = 0, .at = now, .is_used = true};
  tables_.forget(service);
  renew_slices_of(service, now);
  settle_effects(now);
  serving_.take_all(now.micros());
}

// ---- the clock

Instant World::advance(Instant until, Instant stop) {
  ENSURE(until <= stop && stop <= end_);
  while (true) {
    open_second_at(now_);
    if (next_change() == now_) do_changes(now_);
    if (!events_.empty() || now_ == until) return now_;
    const Instant boundary = Instant::at_second(open_second_ + 1);
    const Instant target = std::min({until, boundary, next_change()});
    now_ = Instant(serving_.advance(target.micros()));
    const std::vector<world::SliceIndex> idle = serving_.take_idle();
    const bool is_piece = now_ == until && until < std::min({stop, boundary, next_change()}) && idle.empty();
    if (is_piece) return now_;
    serving_.catch_up(now_.micros());
    for (const world::SliceIndex slice : idle) {
      slices_.drained(slice, now_);
      settle_effects(now_);
    }
    if (!idle.empty()) give_back_gpus(now_);
    if (now_ == boundary) close_second(open_second_);
  }
}

void World::open_second_at(Instant now) {
  if (now == end_ || now.micros() % kMicrosPerSecond != 0 || now.second() == open_second_) return;
  begin_new_arrivals(now.second());
  open_second_ = now.second();
  serving_.open_second(open_second_);
}

void World::close_second(std::int64_t second) {
  if (!has_load_) return;
  for (std::uint32_t index = 0; index < meters_.size(); ++index) {
    if (std::as_const(scenario_.services)[index].is_absent) continue;
    const std::int64_t queued = serving_.queued(ServiceId{index}, now_.micros());
    const std::int64_t arrivals = arrivals_.count(ServiceId{index}, second);
    if (second_measured_) {
      const MeasuredSecond measured =
          meters_[index].measure_second(second, arrivals, queued, !serving_.is_by_rates({index}));
      second_measured_(measured);
      events_.push_back({.at = now_, .what = measured.seen});
    } else {
      events_.push_back({.at = now_, .what = meters_[index].take_second(second, arrivals, queued)});
    }
  }
  if (batches_measured_) batches_measured_(serving_.take_batch_times(second));
  for (TierMeasured& measured : serving_.take_measured()) {
    if (journal_) journal_(TierRecord{.at = now_, .service = measured.service, .measured_gpu = measured.gpu});
    events_.push_back({.at = now_, .what = std::move(measured)});
  }
}

Instant World::next_change() const {
  const Instant next = std::min(slices_.next_time(), rented_.next_time());
  return retraining_times_.empty() ? next : std::min(next, retraining_times_.begin()->first);
}

std::vector<ServiceId> World::retrainings_at(Instant now) const {
  std::vector<ServiceId> services;
  for (auto it = retraining_times_.begin(); it != retraining_times_.end() && it->first == now; ++it) {
    services.push_back({it->second});
  }
  return services;
}

void World::do_changes(Instant now) {
  while (next_change() == now) {
    for (const ServiceId service : retrainings_at(now)) {
      change_retraining(service, [now](RetrainingClock& clock) { return clock.tick(now); }, now);
    }
    note_arrived_gpus(now);
    if (slices_.next_time() == now) slices_.tick(now);
    settle_effects(now);
  }
  give_back_gpus(now);
  // At the end of the run nothing is taken or dropped any more.
  if (now != end_) serving_.take_all(now.micros());
}

void World::finish() {
  ENSURE(now_ == end_);
  serving_.finish(end_.micros());
  for (ServiceMeter& meter : meters_) meter.finish(end_);
  slices_.settle_sums(end_);
  busy_.finish(end_.micros());
}

SmTime World::sm_time() {
  slices_.advance_sums(now_);
  return {.allocated_us = slices_.sums().allocated_sm_us, .busy_us = busy_.sm_us_until(now_.micros())};
}

TableSizes World::table_sizes() const {
  TableSizes sizes{.slices = slices_.index_count(),
                   .slice_timers = slices_.timer_count(),
                   .replicas = serving_.place_count(),
                   .queued = serving_.entry_count()};
  for (const ServiceMeter& meter : meters_) sizes.open_seconds += meter.open_count();
  return sizes;
}

// ---- slices and their users

void World::settle_effects(Instant now) {
  for (auto effects = slices_.take_effects(); !effects.empty(); effects = slices_.take_effects()) {
    for (const world::SliceEffect& effect : effects) {
      switch (effect.kind) {
        case world::SliceEffect::Kind::kStart:
          start_slice(effect.slice, now);
          break;
        case world::SliceEffect::Kind::kStop:
          stop_slice(effect.slice, now);
          break;
        case world::SliceEffect::Kind::kLose:
          lose_slice(effect.slice, now);
          break;
        case world::SliceEffect::Kind::kNewBatchLimit:
          renew_tables(effect.slice);
          break;
      }
    }
  }
  for (const Event& event : slices_.take_events()) events_.push_back(event);
}

void World::start_slice(world::SliceIndex index, Instant now) {
  const world::TrackedSlice slice = slices_.at(index);
  const std::vector<ServiceId>& services = slice.holding.services;
  if (slice.holding.role == Role::kRetraining) {
    if (!retrainings_[services.front().index]) return;
    const Retraining& spec = *std::as_const(scenario_.services)[services.front().index].retraining;
    const auto time_on = retraining_time_on(spec, scenario_.model_of(slice.slice.gpu), slice.slice.profile);
    const auto add = [&](RetrainingClock& clock) { return clock.add_slice(slice.slice, index, time_on, now); };
    change_retraining(services.front(), add, now);
    return;
  }
  bool can_serve = false;
  for (const ServiceId service : services) {
    auto table = table_of(slice, service);
    if (!table) continue;
    can_serve = true;
    note_point(slice, service, *table);
    serving_.start(index, slice.slice, service, std::move(table), services.size() > 1);
  }
  if (!can_serve) slices_.set_can_serve(index, false, now);
}

void World::stop_slice(world::SliceIndex index, Instant now) {
  const Holding holding = slices_.at(index).holding;
  if (holding.role == Role::kRetraining) {
    const auto remove = [&](RetrainingClock& clock) { return clock.remove_slice(holding.slice, index, now); };
    if (retrainings_[holding.services.front().index]) change_retraining(holding.services.front(), remove, now);
    slices_.drained(index, now);
    return;
  }
  if (serving_.stop(index, holding.services)) slices_.drained(index, now);
}

void World::lose_slice(world::SliceIndex index, Instant now) {
  const Holding holding = slices_.at(index).holding;
  if (holding.role == Role::kInference) {
    serving_.lose(index, holding.services, now.micros());
    return;
  }
  const auto remove = [&](RetrainingClock& clock) { return clock.remove_slice(holding.slice, index, now); };
  if (retrainings_[holding.services.front().index]) change_retraining(holding.services.front(), remove, now);
}

/// At the point that a plan chose; at the default point if the service's spec no longer lists that one.
std::shared_ptr<const LatencyTable> World::table_of(const world::TrackedSlice& slice, ServiceId service) {
  const std::size_t holders = slice.holding.services.size();
  auto table = tables_.find(service, slice.slice, holders, slice.point);
  return table || !slice.point ? table : tables_.find(service, slice.slice, holders, std::nullopt);
}

void World::renew_tables(world::SliceIndex index) {
  const world::TrackedSlice& slice = slices_.at(index);
  const std::size_t services_of_slice = slice.holding.services.size();
  for (const ServiceId service : slice.holding.services) {
    const auto table = table_of(slice, service);
    if (!table) continue;
    note_point(slice, service, *table);
    if (has_speed(scenario_.speeds, service) && services_of_slice == 1 &&
        serving_.runs_other_processes(index, service, *table)) {
      // Another default point: the replica begins again, and the batches under way there are dropped.
      serving_.lose(index, slice.holding.services, now_.micros());
      serving_.start(index, slice.slice, service, table, false);
      continue;
    }
    serving_.set_table(index, service, table);
  }
}

void World::note_point(const world::TrackedSlice& slice, ServiceId service, const LatencyTable& table) {
  if (!slice.point) return;
  constexpr double kMicrosPerSecond = 1e6;
  const int sms = profile_sms(scenario_.model_of(slice.slice.gpu), slice.slice.profile);
  const double cost = sms * kMicrosPerSecond / table.point.requests_per_second.to_double();
  std::optional<double>& least = least_chosen_sm_us_[service.index];
  least = std::min(least.value_or(cost), cost);
}

// ---- retraining

void World::change_retraining(ServiceId service, const std::function<RetrainingNews(RetrainingClock&)>& change,
                              Instant now) {
  is_changed_ = true;
  RetrainingClock& clock = *retrainings_[service.index];
  retraining_times_.erase({clock.next_time(), service.index});
  const RetrainingNews news = change(clock);
  retraining_times_.emplace(clock.next_time(), service.index);
  report_retraining(service, news, now);
}

void World::report_retraining(ServiceId service, const RetrainingNews& news, Instant now) {
  if (news.became_due) events_.push_back({.at = now, .what = RetrainingDue{service}});
  if (news.stopped) busy_.end(*news.stopped, service, now.micros());
  if (news.became_done) {
    note_retraining(world::SliceEvent::kRetrainingDone, *news.stopped, now);
    events_.push_back({.at = now, .what = RetrainingDone{service}});
  }
  if (news.started) {
    busy_.begin(*news.started, service, now.micros());
    note_retraining(world::SliceEvent::kRetrainingStarted, *news.started, now);
  }
  const bool is_stale = retrainings_[service.index]->is_stale();
  serving_.set_stale(service, is_stale);
}

void World::note_retraining(world::SliceEvent event, world::SliceIndex index, Instant now) {
  if (!journal_) return;
  const Holding& holding = slices_.at(index).holding;
  journal_(world::SliceRecord{.at = now,
                              .event = event,
                              .slice = holding.slice,
                              .role = holding.role,
                              .services = holding.services,
                              .generation = slices_.at(index).created_as});
}

}  // namespace berth::sim
