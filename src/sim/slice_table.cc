#include "sim/slice_table.h"

#include <algorithm>
#include <variant>

#include "base/ensure.h"
#include "base/overloaded.h"
#include "mig/geometry.h"
#include "profile/operating_point.h"

namespace berth::sim {

SliceTable::SliceTable(const Scenario& scenario, const JournalSink& journal, BusyTable& busy)
    : scenario_(scenario), journal_(journal), busy_(busy), by_gpu_(scenario.gpu_count()) {
  for (std::uint32_t entry = 0; entry < scenario.fleet.size(); ++entry) {
    entry_of_gpu_.insert(entry_of_gpu_.end(), static_cast<std::size_t>(scenario.fleet[entry].count), entry);
  }
  const std::size_t service_count = scenario.services.size();
  sums_.gpu_us_by_entry.resize(scenario.fleet.size());
  sums_.allocated_sm_us_by_service.resize(service_count);
  sums_.lost_us_by_service.resize(service_count);
  sums_.gpu_us_by_service.resize(service_count, std::vector<Decimal>(scenario.fleet.size()));
  sums_.changes_by_service.resize(service_count);
}

// ---- actions

void SliceTable::act(const Plan& plan, Instant now, bool is_first_layout) {
  account(now);
  for (const Action& action : plan.actions) {
    std::visit(Overloaded{
                   [&](const CreateSlice& what) { create(what.slice, action.number, is_first_layout); },
                   [&](const DestroySlice& what) { destroy(what, now); },
                   [&](const AssignSlice& what) { assign(what, action.number, now, is_first_layout); },
               },
               action.what);
  }
  if (is_first_layout) report_unowned(now);
  begin_waiting(now);
  are_rates_stale_ = true;
}

void SliceTable::report_unowned(Instant now) {
  // Slices with holders are reported when they are assigned.
  for (std::uint32_t index = 0; index < slices_.size(); ++index) {
    if (!slices_[index].holding.services.empty()) continue;
    journal(SliceEvent::kCreated, {index}, now);
    report_ready({index}, now);
  }
}

void SliceTable::create(const Slice& created, std::uint64_t number, bool is_at_once) {
  const SliceIndex index{static_cast<std::uint32_t>(slices_.size())};
  SimSlice slice;
  slice.slice = created;
  slice.holding.slice = created;
  slice.created_as = slice.assigned_as = number;
  slice.sms = profile_sms(scenario_.model_of(created.gpu), created.profile);
  slices_.push_back(slice);
  busy_.add(index, created.gpu, slice.sms);
  if (is_at_once) {
    by_gpu_[created.gpu.index].emplace(created.start, index);
    of(index).phase = SimSlice::Phase::kUp;
    // The journal reports it together with its holders, which the assignment of the same plan sets.
  } else {
    waiting_.push_back(index);
  }
}

void SliceTable::destroy(const DestroySlice& action, Instant now) {
  const auto index = find(action.slice);
  ENSURE(index.has_value());
  SimSlice& slice = of(*index);
  slice.is_unwanted = true;
  switch (slice.phase) {
    case SimSlice::Phase::kWaitingForRoom:
      std::erase(waiting_, *index);
      slice.phase = SimSlice::Phase::kGone;
      report_gone(*index, now);
      return;
    case SimSlice::Phase::kStarting:
      begin_destroy(*index, now);
      return;
    case SimSlice::Phase::kUp:
      begin_drain(*index, now);
      return;
    case SimSlice::Phase::kCreating:
    case SimSlice::Phase::kDraining:
    case SimSlice::Phase::kDestroying:
    case SimSlice::Phase::kGone:
      return;  // continues by itself
  }
}

void SliceTable::assign(const AssignSlice& action, std::uint64_t number, Instant now, bool is_at_once) {
  const auto index = find(action.holding.slice);
  ENSURE(index.has_value());
  SimSlice& slice = of(*index);
  slice.assigned_as = number;
  const auto take_over = [&] {
    slice.holding = action.holding;
    slice.point = action.point;
  };
  switch (slice.phase) {
    case SimSlice::Phase::kWaitingForRoom:
    case SimSlice::Phase::kCreating:
      take_over();
      return;
    case SimSlice::Phase::kStarting: {
      const bool is_restart = needs_restart(slice, action);
      take_over();
      if (is_restart) begin_start(*index, now);
      return;
    }
    case SimSlice::Phase::kDraining:
      slice.next = action;
      return;
    case SimSlice::Phase::kUp:
      if (is_at_once) {
        take_over();
        journal(SliceEvent::kCreated, *index, now);
        up(*index, now);
      } else if (!needs_restart(slice, action)) {
        take_over();
        effects_.push_back({.kind = SliceEffect::Kind::kNewBatchLimit, .slice = *index});
        report_ready(*index, now);
      } else {
        slice.next = action;
        begin_drain(*index, now);
      }
      return;
    case SimSlice::Phase::kDestroying:
    case SimSlice::Phase::kGone:
      ENSURE(false && "a slice that is being destroyed is not assigned");
  }
}

bool SliceTable::needs_restart(const SimSlice& slice, const AssignSlice& action) const {
  if (slice.holding != action.holding) return true;
  if (slice.point == action.point) return false;
  for (const ServiceId service : action.holding.services) {
    if (setup_of(service, slice.slice, slice.point) != setup_of(service, slice.slice, action.point)) return true;
  }
  return false;
}

std::optional<SliceTable::Setup> SliceTable::setup_of(ServiceId service, const Slice& slice,
                                                      const std::optional<PointChoice>& choice) const {
  if (choice) return Setup{.variant = choice->variant, .processes = choice->processes};
  const GpuModel& model = scenario_.model_of(slice.gpu);
  const auto point = profile::choose_point(scenario_.services[service.index], model, slice.profile);
  if (!point) return std::nullopt;
  return Setup{.variant = point->variant, .processes = point->processes};
}

// ---- the phases of a change

Instant SliceTable::next_time() const { return timers_.empty() ? Instant::never() : timers_.top().at; }

void SliceTable::tick(Instant now) {
  account(now);
  while (!timers_.empty() && timers_.top().at == now) {
    const Timer timer = timers_.top();
    timers_.pop();
    if (timer.generation != of(timer.slice).generation) continue;
    const SimSlice::Phase phase = of(timer.slice).phase;
    if (phase == SimSlice::Phase::kCreating) created(timer.slice, now);
    if (phase == SimSlice::Phase::kStarting) up(timer.slice, now);
    if (phase == SimSlice::Phase::kDestroying) gone(timer.slice, now);
  }
  begin_waiting(now);
  are_rates_stale_ = true;
}

void SliceTable::begin_waiting(Instant now) {
  std::vector<SliceIndex> still_waiting;
  for (const SliceIndex index : waiting_) {
    SimSlice& slice = of(index);
    if (!has_room(slice.slice)) {
      still_waiting.push_back(index);
      continue;
    }
    by_gpu_[slice.slice.gpu.index].emplace(slice.slice.start, index);
    slice.phase = SimSlice::Phase::kCreating;
    set_timer(index, scenario_.changes.create, now);
  }
  waiting_ = std::move(still_waiting);
}

void SliceTable::created(SliceIndex index, Instant now) {
  SimSlice& slice = of(index);
  journal(SliceEvent::kCreated, index, now);
  count_change(slice, now);
  if (slice.is_unwanted) return begin_destroy(index, now);
  begin_start(index, now);
}

void SliceTable::begin_start(SliceIndex index, Instant now) {
  SimSlice& slice = of(index);
  if (slice.holding.services.empty()) {
    slice.phase = SimSlice::Phase::kUp;
    ++slice.generation;
    report_ready(index, now);
    return;
  }
  slice.phase = SimSlice::Phase::kStarting;
  Micros start;
  if (slice.holding.role == Role::kInference) {
    for (const ServiceId service : slice.holding.services)
      start = std::max(start, scenario_.services[service.index].start);
  }
  set_timer(index, scenario_.changes.plumbing + start, now);
}

void SliceTable::up(SliceIndex index, Instant now) {
  SimSlice& slice = of(index);
  slice.phase = SimSlice::Phase::kUp;
  slice.can_serve = true;
  journal(SliceEvent::kServing, index, now);
  if (!slice.holding.services.empty()) effects_.push_back({.kind = SliceEffect::Kind::kStart, .slice = index});
  report_ready(index, now);
}

void SliceTable::begin_drain(SliceIndex index, Instant now) {
  SimSlice& slice = of(index);
  slice.phase = SimSlice::Phase::kDraining;
  if (slice.holding.services.empty()) return drained(index, now);
  journal(SliceEvent::kDraining, index, now);
  effects_.push_back({.kind = SliceEffect::Kind::kStop, .slice = index});
}

void SliceTable::drained(SliceIndex index, Instant now) {
  account(now);
  are_rates_stale_ = true;
  SimSlice& slice = of(index);
  ENSURE(slice.phase == SimSlice::Phase::kDraining);
  if (slice.is_unwanted) return begin_destroy(index, now);
  ENSURE(slice.next.has_value());
  slice.holding = slice.next->holding;
  slice.point = slice.next->point;
  slice.next.reset();
  begin_start(index, now);
}

void SliceTable::begin_destroy(SliceIndex index, Instant now) {
  of(index).phase = SimSlice::Phase::kDestroying;
  set_timer(index, scenario_.changes.destroy, now);
}

void SliceTable::gone(SliceIndex index, Instant now) {
  SimSlice& slice = of(index);
  slice.phase = SimSlice::Phase::kGone;
  by_gpu_[slice.slice.gpu.index].erase(slice.slice.start);
  journal(SliceEvent::kDestroyed, index, now);
  count_change(slice, now);
  report_gone(index, now);
}

// ---- helpers

void SliceTable::report_ready(SliceIndex index, Instant now) {
  events_.push_back({.at = now, .what = SliceReady{.slice = of(index).slice, .assignment = of(index).assigned_as}});
}

void SliceTable::report_gone(SliceIndex index, Instant now) {
  events_.push_back({.at = now, .what = SliceGone{.slice = of(index).slice, .generation = of(index).created_as}});
}

std::optional<SliceIndex> SliceTable::find(const Slice& slice) const {
  for (const SliceIndex index : waiting_) {
    if (slices_[index.value].slice == slice) return index;
  }
  const auto& standing = by_gpu_[slice.gpu.index];
  const auto it = standing.find(slice.start);
  if (it == standing.end() || slices_[it->second.value].slice != slice) return std::nullopt;
  return it->second;
}

bool SliceTable::has_room(const Slice& slice) const {
  const auto& standing = by_gpu_[slice.gpu.index];
  if (slice.profile.is_full()) return standing.empty();
  mig::State state{{.start = slice.start, .profile = slice.profile}};
  for (const auto& [start, index] : standing) {
    const Slice& other = slices_[index.value].slice;
    if (other.profile.is_full()) return false;
    state.push_back({.start = other.start, .profile = other.profile});
  }
  std::sort(state.begin(), state.end());
  return !mig::find_clash(scenario_.model_of(slice.gpu), state).has_value();
}

void SliceTable::set_timer(SliceIndex index, Micros after, Instant now) {
  ++of(index).generation;
  timers_.push({.at = now + after, .sequence = timer_sequence_++, .slice = index, .generation = of(index).generation});
}

void SliceTable::journal(SliceEvent event, SliceIndex index, Instant now) {
  if (!journal_) return;
  const Holding& holding = of(index).holding;
  journal_(SliceRecord{
      .at = now, .event = event, .slice = holding.slice, .role = holding.role, .services = holding.services});
}

void SliceTable::count_change(const SimSlice& slice, Instant now) {
  if (now == Instant()) return;
  ++sums_.changes;
  for (const ServiceId service : slice.holding.services) ++sums_.changes_by_service[service.index];
}

void SliceTable::set_can_serve(SliceIndex slice, bool can_serve, Instant now) {
  account(now);
  of(slice).can_serve = can_serve;
  are_rates_stale_ = true;
}

// ---- sums over time

void SliceTable::account(Instant now) {
  const std::int64_t span_us = (now - accounted_until_).count();
  if (span_us == 0) return;
  ENSURE(span_us > 0);
  if (are_rates_stale_) refresh_rates();
  const auto span = static_cast<double>(span_us);
  sums_.allocated_sm_us += allocated_sms_ * span;
  for (std::size_t entry = 0; entry < gpus_by_entry_.size(); ++entry) {
    sums_.gpu_us_by_entry[entry] =
        detail::checked_add(sums_.gpu_us_by_entry[entry], detail::checked_multiply(gpus_by_entry_[entry], span_us));
  }
  for (std::size_t service = 0; service < lost_by_service_.size(); ++service) {
    sums_.allocated_sm_us_by_service[service] += allocated_sms_by_service_[service] * span;
    sums_.lost_us_by_service[service] += lost_by_service_[service] * span_us;
    for (std::size_t entry = 0; entry < gpus_by_entry_.size(); ++entry) {
      const Decimal& share = gpus_by_service_[service][entry];
      if (share.sign() != 0) sums_.gpu_us_by_service[service][entry] += share * Decimal(span_us);
    }
  }
  accounted_until_ = now;
}

void SliceTable::refresh_rates() {
  const std::size_t service_count = scenario_.services.size();
  gpus_by_entry_.assign(scenario_.fleet.size(), 0);
  allocated_sms_ = 0;
  allocated_sms_by_service_.assign(service_count, 0);
  lost_by_service_.assign(service_count, 0);
  gpus_by_service_.assign(service_count, std::vector<Decimal>(scenario_.fleet.size()));
  for (std::size_t gpu = 0; gpu < by_gpu_.size(); ++gpu) {
    if (by_gpu_[gpu].empty()) continue;
    const std::uint32_t entry = entry_of_gpu_[gpu];
    ++gpus_by_entry_[entry];
    std::int64_t owned_sms = 0;
    for (const auto& [start, index] : by_gpu_[gpu]) {
      if (!of(index).holding.services.empty()) owned_sms += of(index).sms;
    }
    for (const auto& [start, index] : by_gpu_[gpu]) {
      const SimSlice& slice = of(index);
      const auto holder_count = static_cast<std::int64_t>(slice.holding.services.size());
      if (holder_count == 0) continue;
      // A slice that retrains, or waits for the next retraining, is not lost; while it changes to or from that role it
      // is.
      const bool is_up = slice.phase == SimSlice::Phase::kUp;
      const bool is_lost = !is_up || (slice.holding.role == Role::kInference && !slice.can_serve);
      allocated_sms_ += slice.sms;
      for (const ServiceId service : slice.holding.services) {
        allocated_sms_by_service_[service.index] += static_cast<double>(slice.sms) / static_cast<double>(holder_count);
        gpus_by_service_[service.index][entry] += Decimal(slice.sms, owned_sms * holder_count);
        if (is_lost) ++lost_by_service_[service.index];
      }
    }
  }
  are_rates_stale_ = false;
}

}  // namespace berth::sim
