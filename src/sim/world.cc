#include "sim/world.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace berth::sim {

World::World(const Scenario& scenario, std::uint64_t seed, const WorldOptions& options, JournalSink journal)
    : scenario_(scenario),
      journal_(std::move(journal)),
      end_(options.is_endless ? Instant::never() : Instant::at_second(scenario.simulated_seconds())),
      is_rough_(options.is_rough),
      only_(options.only),
      arrivals_(scenario, seed, options.only, options.is_endless ? Laps::kEndless : Laps::kOne),
      busy_(scenario.gpu_count(), scenario.services.size()),
      tables_(scenario, options.sharing),
      slices_(scenario, journal_, busy_),
      serving_(scenario, arrivals_.streams(), meters_, busy_, options.dispatch),
      least_chosen_sm_us_(scenario.services.size()) {
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    meters_.emplace_back(ServiceId{index}, arrivals_.streams()[index], journal_);
    const std::optional<Retraining>& spec = scenario.services[index].retraining;
    const bool retrains = spec && !is_silent(index);
    retrainings_.push_back(retrains ? std::optional(RetrainingClock(*spec, end_)) : std::nullopt);
    if (retrains) retraining_times_.emplace(retrainings_[index]->next_time(), index);
  }
}

void World::act(const Plan& plan, Instant now) {
  ENSURE(now == now_);
  if (std::ranges::any_of(plan.actions, [&](const Action& action) { return is_lost(slice_of(action.what).gpu); })) {
    Plan possible = plan;
    std::erase_if(possible.actions, [&](const Action& action) { return is_lost(slice_of(action.what).gpu); });
    return act(possible, now);
  }
  const bool is_first_layout = now == Instant() && open_second_ < 0;
  if (is_first_layout) choose_ways(plan);
  slices_.act(plan, now, is_first_layout);
  settle_effects(now);
  serving_.take_all(now.micros());
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

void World::lose_gpu(GpuId gpu, Instant now) {
  ENSURE(now == now_);
  if (!lost_gpus_.insert(gpu).second) return;
  slices_.lose(gpu, now);
  settle_effects(now);
  slices_.forget_lost();
  events_.push_back({.at = now, .what = GpuLost{.gpu = gpu, .reason = "lost"}});
  serving_.take_all(now.micros());
}

void World::return_gpu(GpuId gpu, Instant now) {
  ENSURE(now == now_);
  if (lost_gpus_.erase(gpu) == 0) return;
  events_.push_back({.at = now, .what = GpuReturned{gpu}});
}

// ---- the clock

Instant World::advance(Instant until) {
  ENSURE(until <= end_);
  while (true) {
    open_second_at(now_);
    if (next_change() == now_) do_changes(now_);
    if (!events_.empty() || now_ == until) return now_;
    const Instant boundary = Instant::at_second(open_second_ + 1);
    const Instant target = std::min({until, boundary, next_change()});
    now_ = Instant(serving_.advance(target.micros()));
    for (const SliceIndex idle : serving_.take_idle()) {
      slices_.drained(idle, now_);
      settle_effects(now_);
    }
    if (now_ == boundary) close_second(open_second_);
  }
}

void World::open_second_at(Instant now) {
  if (now == end_ || now.micros() % kMicrosPerSecond != 0 || now.second() == open_second_) return;
  open_second_ = now.second();
  serving_.open_second(open_second_);
}

void World::close_second(std::int64_t second) {
  for (std::uint32_t index = 0; index < meters_.size(); ++index) {
    const std::int64_t queued = serving_.queued(ServiceId{index}, now_.micros());
    events_.push_back(
        {.at = now_, .what = meters_[index].take_second(second, arrivals_.count(ServiceId{index}, second), queued)});
  }
}

Instant World::next_change() const {
  if (retraining_times_.empty()) return slices_.next_time();
  return std::min(slices_.next_time(), retraining_times_.begin()->first);
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
    if (slices_.next_time() == now) slices_.tick(now);
    settle_effects(now);
  }
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
    for (const SliceEffect& effect : effects) {
      switch (effect.kind) {
        case SliceEffect::Kind::kStart:
          start_slice(effect.slice, now);
          break;
        case SliceEffect::Kind::kStop:
          stop_slice(effect.slice, now);
          break;
        case SliceEffect::Kind::kLose:
          lose_slice(effect.slice, now);
          break;
        case SliceEffect::Kind::kNewBatchLimit:
          renew_tables(effect.slice);
          break;
      }
    }
  }
  for (const Event& event : slices_.take_events()) events_.push_back(event);
}

void World::start_slice(SliceIndex index, Instant now) {
  const SimSlice slice = slices_.at(index);
  const std::vector<ServiceId>& services = slice.holding.services;
  if (slice.holding.role == Role::kRetraining) {
    if (!retrainings_[services.front().index]) return;
    const Retraining& spec = *scenario_.services[services.front().index].retraining;
    const auto time_on = retraining_time_on(spec, scenario_.model_of(slice.slice.gpu), slice.slice.profile);
    const auto add = [&](RetrainingClock& clock) { return clock.add_slice(slice.slice, index, time_on, now); };
    change_retraining(services.front(), add, now);
    return;
  }
  bool can_serve = false;
  for (const ServiceId service : services) {
    auto table = tables_.find(service, slice.slice, services.size(), slice.point);
    if (!table) continue;
    can_serve = true;
    note_point(slice, service, *table);
    serving_.start(index, slice.slice, service, std::move(table), services.size() > 1);
  }
  if (!can_serve) slices_.set_can_serve(index, false, now);
}

void World::stop_slice(SliceIndex index, Instant now) {
  const Holding holding = slices_.at(index).holding;
  if (holding.role == Role::kRetraining) {
    const auto remove = [&](RetrainingClock& clock) { return clock.remove_slice(holding.slice, index, now); };
    if (retrainings_[holding.services.front().index]) change_retraining(holding.services.front(), remove, now);
    slices_.drained(index, now);
    return;
  }
  if (serving_.stop(index, holding.services)) slices_.drained(index, now);
}

void World::lose_slice(SliceIndex index, Instant now) {
  const Holding holding = slices_.at(index).holding;
  if (holding.role == Role::kInference) {
    serving_.lose(index, holding.services, now.micros());
    return;
  }
  const auto remove = [&](RetrainingClock& clock) { return clock.remove_slice(holding.slice, index, now); };
  if (retrainings_[holding.services.front().index]) change_retraining(holding.services.front(), remove, now);
}

void World::renew_tables(SliceIndex index) {
  const SimSlice& slice = slices_.at(index);
  for (const ServiceId service : slice.holding.services) {
    auto table = tables_.find(service, slice.slice, slice.holding.services.size(), slice.point);
    if (!table) continue;
    note_point(slice, service, *table);
    serving_.set_table(index, service, table);
  }
}

void World::note_point(const SimSlice& slice, ServiceId service, const LatencyTable& table) {
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
    note_retraining(SliceEvent::kRetrainingDone, *news.stopped, now);
    events_.push_back({.at = now, .what = RetrainingDone{service}});
  }
  if (news.started) {
    busy_.begin(*news.started, service, now.micros());
    note_retraining(SliceEvent::kRetrainingStarted, *news.started, now);
  }
  const bool is_stale = retrainings_[service.index]->is_stale();
  serving_.set_stale(service, is_stale);
}

void World::note_retraining(SliceEvent event, SliceIndex index, Instant now) {
  if (!journal_) return;
  const Holding& holding = slices_.at(index).holding;
  journal_(SliceRecord{
      .at = now, .event = event, .slice = holding.slice, .role = holding.role, .services = holding.services});
}

}  // namespace berth::sim
