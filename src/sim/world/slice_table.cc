#include "sim/world/slice_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "domain/mig/geometry.h"
#include "domain/profile/operating_point.h"

namespace berth::sim {
namespace {

constexpr const char* kReportedFailed = "the GPU reported a failure";
constexpr const char* kTimedOut = "no end after 60 s";

}  // namespace

SliceTable::SliceTable(const Scenario& scenario, const JournalSink& journal, BusyTable& busy, Devices devices)
    : scenario_(scenario),
      journal_(journal),
      busy_(busy),
      devices_(devices),
      by_gpu_(scenario.gpu_count()),
      made_here_(scenario.gpu_count()),
      waiting_(scenario.gpu_count()),
      known_numbers_(scenario.gpu_count()),
      sums_(scenario),
      is_unsaved_(scenario.gpu_count(), 0) {}

// ---- what devices remember

void SliceTable::resume(const std::vector<DeviceMemory>& devices, Instant now) {
  ENSURE(slices_.empty() && devices.size() == by_gpu_.size());
  account(now);
  std::vector<const SliceMemory*> slices;
  for (std::size_t gpu = 0; gpu < devices.size(); ++gpu) {
    known_numbers_[gpu] = devices[gpu].known_number;
    for (const SliceMemory& slice : devices[gpu].slices) slices.push_back(&slice);
  }
  std::ranges::sort(slices, {}, &SliceMemory::order);
  for (const SliceMemory* slice : slices) remember(*slice, now);
  for (std::uint32_t index = 0; index < slices.size(); ++index) {
    const SimSlice& slice = at({index});
    if (slice.phase == SimSlice::Phase::kDraining) drained({index}, now);
    const bool is_changing = slice.phase == SimSlice::Phase::kCreating || slice.phase == SimSlice::Phase::kDestroying;
    if (devices_ == Devices::kOutside && is_changing) to_order_.emplace_back(SliceIndex{index}, slice.generation);
    const bool works = slice.phase == SimSlice::Phase::kUp && !slice.holding.services.empty();
    if (works) effects_.push_back({.kind = SliceEffect::Kind::kStart, .slice = {index}});
  }
  begin_waiting(now);
}

void SliceTable::remember(const SliceMemory& memory, Instant now) {
  const SliceIndex index = index_for_new();
  SimSlice& slice = slices_[index.value];
  slice.slice = memory.slice;
  slice.phase = memory.phase;
  slice.holding = {.slice = memory.slice, .role = memory.role, .services = memory.services};
  slice.point = memory.point;
  slice.next = memory.next;
  slice.created_as = memory.created_as;
  slice.assigned_as = memory.assigned_as;
  slice.is_unwanted = memory.is_unwanted;
  slice.is_foreign = memory.is_foreign;
  slice.will_time_out = memory.will_time_out;
  slice.was_ordered = memory.was_ordered;
  slice.sequence = memory.order;
  slice.sms = profile_sms(scenario_.model_of(memory.slice.gpu), memory.slice.profile);
  slice_sequence_ = std::max(slice_sequence_, memory.order + 1);
  touch(memory.slice.gpu);
  busy_.add(index, memory.slice.gpu, slice.sms);
  if (slice.phase == SimSlice::Phase::kWaitingForRoom) {
    waiting_[memory.slice.gpu.index].push_back(index);
    roomier_gpus_.push_back(memory.slice.gpu);
  } else {
    by_gpu_[memory.slice.gpu.index].emplace(memory.slice.start, index);
  }
  if (memory.continues_at != Instant::never()) set_timer(index, std::max(memory.continues_at, now) - now, now);
}

DeviceMemory SliceTable::memory_of(GpuId gpu) const {
  DeviceMemory memory{.known_number = known_numbers_[gpu.index], .slices = {}};
  const auto add = [&](SliceIndex index) {
    const SimSlice& slice = at(index);
    memory.slices.push_back({.slice = slice.slice,
                             .phase = slice.phase,
                             .created_as = slice.created_as,
                             .assigned_as = slice.assigned_as,
                             .role = slice.holding.role,
                             .services = slice.holding.services,
                             .point = slice.point,
                             .next = slice.next,
                             .is_unwanted = slice.is_unwanted,
                             .is_foreign = slice.is_foreign,
                             .will_time_out = slice.will_time_out,
                             .order = slice.sequence,
                             .was_ordered = slice.was_ordered});
    const bool has_timer = slice.phase == SimSlice::Phase::kCreating || slice.phase == SimSlice::Phase::kStarting ||
                           slice.phase == SimSlice::Phase::kDestroying;
    if (has_timer) memory.slices.back().continues_at = slice.continues_at;
  };
  for (const auto& [start, index] : by_gpu_[gpu.index]) add(index);
  for (const SliceIndex index : waiting_[gpu.index]) add(index);
  std::ranges::sort(memory.slices, {}, &SliceMemory::order);
  return memory;
}

std::vector<GpuId> SliceTable::take_changed_gpus() {
  for (const GpuId gpu : unsaved_gpus_) is_unsaved_[gpu.index] = 0;
  return std::exchange(unsaved_gpus_, {});
}

void SliceTable::note_change(GpuId gpu) {
  if (std::exchange(is_unsaved_[gpu.index], 1) == 0) unsaved_gpus_.push_back(gpu);
}

void SliceTable::touch(GpuId gpu) {
  changed_gpus_.push_back(gpu);
  note_change(gpu);
}

// ---- actions

void SliceTable::pass_over(GpuId gpu, std::uint64_t number) {
  known_numbers_[gpu.index] = std::max(known_numbers_[gpu.index], number);
  touch(gpu);
}

void SliceTable::act(const Plan& plan, Instant now, bool is_first_layout) {
  account(now);
  for (const Action& action : plan.actions) {
    pass_over(slice_of(action.what).gpu, action.number);
    std::visit(Overloaded{
                   [&](const CreateSlice& what) { create(what.slice, action.number, is_first_layout); },
                   [&](const DestroySlice& what) { destroy(what, now); },
                   [&](const AssignSlice& what) { assign(what, action.number, now, is_first_layout); },
               },
               action.what);
  }
  if (is_first_layout) report_unowned(now);
  begin_waiting(now);
  report_seen(now);
}

void SliceTable::report_unowned(Instant now) {
  // Slices with holders are reported when they are assigned. No index has been reused yet, so this is their order.
  ENSURE(free_.empty());
  for (std::uint32_t index = 0; index < slices_.size(); ++index) {
    if (!slices_[index].holding.services.empty()) continue;
    journal(SliceEvent::kCreated, {index}, now);
    report_ready({index}, now);
  }
}

void SliceTable::create(const Slice& created, std::uint64_t number, bool is_at_once) {
  const SliceIndex index = index_for_new();
  SimSlice& slice = slices_[index.value];
  const std::uint64_t generation = slice.generation;
  slice = SimSlice();
  slice.slice = created;
  slice.holding.slice = created;
  slice.created_as = slice.assigned_as = number;
  slice.sequence = slice_sequence_++;
  slice.generation = generation;
  slice.sms = profile_sms(scenario_.model_of(created.gpu), created.profile);
  touch(created.gpu);
  busy_.add(index, created.gpu, slice.sms);
  if (is_at_once) {
    by_gpu_[created.gpu.index].emplace(created.start, index);
    slice.phase = SimSlice::Phase::kUp;
    // The journal reports it together with its holders, which the assignment of the same plan sets.
  } else {
    waiting_[created.gpu.index].push_back(index);
    roomier_gpus_.push_back(created.gpu);
  }
}

void SliceTable::destroy(const DestroySlice& action, Instant now) {
  const auto index = find(action.slice);
  ENSURE(index.has_value());
  SimSlice& slice = change(*index);
  slice.is_unwanted = true;
  switch (slice.phase) {
    case SimSlice::Phase::kWaitingForRoom:
      std::erase(waiting_[slice.slice.gpu.index], *index);
      report_gone(*index, now);
      release(*index);
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
  SimSlice& slice = change(*index);
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
        const bool is_new_point = slice.point != action.point;
        take_over();
        if (is_new_point) journal_point(slice, now);
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
    if (timer.generation != at(timer.slice).generation) continue;
    const SimSlice::Phase phase = at(timer.slice).phase;
    if (phase == SimSlice::Phase::kStarting) up(timer.slice, now);
    if (phase == SimSlice::Phase::kCreating) {
      created(timer.slice, end_on_device(timer.slice, ActionKind::kCreation), now);
    }
    if (phase == SimSlice::Phase::kDestroying) {
      destroyed(timer.slice, end_on_device(timer.slice, ActionKind::kDestruction), now);
    }
  }
  begin_waiting(now);
  report_seen(now);
}

void SliceTable::begin_waiting(Instant now) {
  for (const SliceIndex index : take_candidates()) {
    if (!has_room(at(index).slice)) continue;
    SimSlice& slice = change(index);
    const std::uint32_t gpu = slice.slice.gpu.index;
    std::erase(waiting_[gpu], index);
    by_gpu_[gpu].emplace(slice.slice.start, index);
    slice.phase = SimSlice::Phase::kCreating;
    begin_on_device(index, ActionKind::kCreation, now);
  }
}

std::vector<SliceIndex> SliceTable::take_candidates() {
  std::vector<GpuId> gpus = std::exchange(roomier_gpus_, {});
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  std::vector<SliceIndex> candidates;
  for (const GpuId gpu : gpus) {
    candidates.insert(candidates.end(), waiting_[gpu.index].begin(), waiting_[gpu.index].end());
  }
  std::sort(candidates.begin(), candidates.end(),
            [this](SliceIndex a, SliceIndex b) { return at(a).sequence < at(b).sequence; });
  return candidates;
}

void SliceTable::created(SliceIndex index, const End& end, Instant now) {
  if (end.how == ActionEnd::kFailed) return fail_creation(index, end.why, now);
  SimSlice& slice = change(index);
  slice.was_ordered = false;
  if (end.how == ActionEnd::kDoneButReportedFailed) {
    report_failed(ActionKind::kCreation, index, end.why, now);
    stand_unowned(index);
  }
  journal(SliceEvent::kCreated, index, now);
  count_change(slice, now);
  if (slice.is_unwanted) return begin_destroy(index, now);
  if (end.how == ActionEnd::kDone) begin_start(index, now);
}

void SliceTable::begin_start(SliceIndex index, Instant now) {
  SimSlice& slice = change(index);
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
  SimSlice& slice = change(index);
  slice.phase = SimSlice::Phase::kUp;
  slice.can_serve = true;
  if (slice.point) journal_point(slice, now);
  journal(SliceEvent::kServing, index, now);
  if (!slice.holding.services.empty()) effects_.push_back({.kind = SliceEffect::Kind::kStart, .slice = index});
  report_ready(index, now);
}

void SliceTable::begin_drain(SliceIndex index, Instant now) {
  SimSlice& slice = change(index);
  slice.phase = SimSlice::Phase::kDraining;
  if (slice.holding.services.empty()) return drained(index, now);
  journal(SliceEvent::kDraining, index, now);
  effects_.push_back({.kind = SliceEffect::Kind::kStop, .slice = index});
}

void SliceTable::drained(SliceIndex index, Instant now) {
  account(now);
  SimSlice& slice = change(index);
  ENSURE(slice.phase == SimSlice::Phase::kDraining);
  if (slice.is_unwanted) return begin_destroy(index, now);
  ENSURE(slice.next.has_value());
  slice.holding = slice.next->holding;
  slice.point = slice.next->point;
  slice.next.reset();
  begin_start(index, now);
}

void SliceTable::begin_destroy(SliceIndex index, Instant now) {
  change(index).phase = SimSlice::Phase::kDestroying;
  begin_on_device(index, ActionKind::kDestruction, now);
}

void SliceTable::destroyed(SliceIndex index, const End& end, Instant now) {
  if (end.how == ActionEnd::kFailed) return fail_destruction(index, end.why, now);
  const bool is_reported_failed = end.how == ActionEnd::kDoneButReportedFailed;
  if (is_reported_failed) report_failed(ActionKind::kDestruction, index, end.why, now);
  gone(index, now, is_reported_failed ? Report::kNone : Report::kGone);
}

void SliceTable::gone(SliceIndex index, Instant now, Report report) {
  const SimSlice& slice = change(index);
  by_gpu_[slice.slice.gpu.index].erase(slice.slice.start);
  roomier_gpus_.push_back(slice.slice.gpu);
  journal(SliceEvent::kDestroyed, index, now);
  count_change(slice, now);
  if (report == Report::kGone) report_gone(index, now);
  release(index);
}

void SliceTable::lose(GpuId gpu, Instant now) {
  account(now);
  faults_.forget_foreign(gpu);
  if (devices_ == Devices::kOutside) remember_made_here(gpu);
  for (const SliceIndex index : std::exchange(waiting_[gpu.index], {})) lost_.push_back(index);
  for (const auto& [start, index] : std::exchange(by_gpu_[gpu.index], {})) lose_slice(index, SliceEvent::kLost, now);
}

void SliceTable::lose_slice(SliceIndex index, SliceEvent event, Instant now) {
  SimSlice& slice = change(index);
  const bool has_users = slice.phase == SimSlice::Phase::kUp || slice.phase == SimSlice::Phase::kDraining;
  if (has_users && !slice.holding.services.empty()) {
    effects_.push_back({.kind = SliceEffect::Kind::kLose, .slice = index});
  }
  if (slice.phase != SimSlice::Phase::kCreating && !slice.is_foreign) journal(event, index, now);
  lost_.push_back(index);
}

void SliceTable::forget_lost() {
  for (const SliceIndex index : std::exchange(lost_, {})) release(index);
}

// ---- faults

void SliceTable::begin_on_device(SliceIndex index, ActionKind kind, Instant now) {
  SimSlice& slice = change(index);
  slice.will_time_out = false;
  slice.was_ordered = false;
  if (devices_ == Devices::kOutside) {
    ++slice.generation;  // no timer of before counts
    slice.continues_at = Instant::never();
    to_order_.emplace_back(index, slice.generation);
    return;
  }
  Micros duration = change_time(scenario_, scenario_.model_of(slice.slice.gpu), slice.slice.profile, kind);
  if (!faults_.is_empty()) {
    if (const auto slow = faults_.begin_action(slice.slice.gpu)) {
      duration = std::min(*slow, kActionTimeMax);
      slice.will_time_out = *slow > kActionTimeMax;
    }
  }
  set_timer(index, duration, now);
}

SliceTable::End SliceTable::end_on_device(SliceIndex index, ActionKind kind) {
  if (at(index).will_time_out) return {.how = ActionEnd::kFailed, .why = kTimedOut};
  const ActionEnd how = faults_.is_empty() ? ActionEnd::kDone : faults_.end_action(at(index).slice.gpu, kind);
  if (how == ActionEnd::kDoneButReportedFailed) return {.how = how, .why = kReportedFailed};
  const char* why = kind == ActionKind::kCreation ? "the GPU did not create it" : "the GPU did not destroy it";
  return {.how = how, .why = why};
}

void SliceTable::fail_creation(SliceIndex index, const std::string& why, Instant now) {
  const SimSlice& slice = change(index);
  const bool is_unwanted = slice.is_unwanted;
  by_gpu_[slice.slice.gpu.index].erase(slice.slice.start);
  roomier_gpus_.push_back(slice.slice.gpu);
  report_failed(ActionKind::kCreation, index, why, now);
  if (is_unwanted) report_gone(index, now);  // whoever wanted it destroyed has what they wanted
  release(index);
}

void SliceTable::fail_destruction(SliceIndex index, const std::string& why, Instant now) {
  stand_unowned(index);
  SimSlice& slice = change(index);
  slice.is_unwanted = false;
  const GpuId gpu = slice.slice.gpu;
  fail_blocked(gpu, now);
  report_failed(ActionKind::kDestruction, index, why, now);
}

void SliceTable::stand_unowned(SliceIndex index) {
  SimSlice& slice = change(index);
  slice.phase = SimSlice::Phase::kUp;
  slice.was_ordered = false;
  ++slice.generation;
  slice.holding = {.slice = slice.slice, .services = {}};
  slice.point.reset();
  slice.next.reset();
}

void SliceTable::fail_blocked(GpuId gpu, Instant now) {
  const std::vector<SliceIndex> waiting = waiting_[gpu.index];
  for (const SliceIndex index : waiting) {
    if (!clashes_with_staying(at(index).slice)) continue;
    std::erase(waiting_[gpu.index], index);
    report_failed(ActionKind::kCreation, index, "a slice that stays takes its place", now);
    release(index);
  }
}

bool SliceTable::clashes_with_staying(const Slice& slice) const {
  const auto& standing = by_gpu_[slice.gpu.index];
  return std::any_of(standing.begin(), standing.end(), [&](const auto& entry) {
    const SimSlice& other = at(entry.second);
    if (other.is_unwanted) return false;
    if (slice.profile.is_full() || other.slice.profile.is_full()) return true;
    mig::State both{{.start = slice.start, .profile = slice.profile},
                    {.start = other.slice.start, .profile = other.slice.profile}};
    std::sort(both.begin(), both.end());
    return mig::find_clash(scenario_.model_of(slice.gpu), both).has_value();
  });
}

void SliceTable::report_failed(ActionKind kind, SliceIndex index, std::string why, Instant now) {
  const SimSlice& slice = at(index);
  events_.push_back({.at = now,
                     .what = ActionFailed{.kind = kind,
                                          .slice = slice.slice,
                                          .generation = slice.created_as,
                                          .assignment = slice.assigned_as,
                                          .message = std::move(why)}});
  to_observe_.push_back(slice.slice.gpu);
}

/// What stands where something failed: reports are not to be trusted there.
void SliceTable::report_seen(Instant now) {
  if (to_observe_.empty()) return;
  std::vector<GpuId> gpus = std::exchange(to_observe_, {});
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  for (const GpuId gpu : gpus) {
    GpuObserved observed{.gpu = gpu, .known_number = known_numbers_[gpu.index], .slices = {}};
    const auto add = [&](SliceIndex index, bool is_pending) {
      const SimSlice& slice = at(index);
      observed.slices.push_back({.slice = slice.slice,
                                 .generation = slice.created_as,
                                 .is_foreign = slice.is_foreign,
                                 .is_pending = is_pending,
                                 .is_leaving = slice.is_unwanted});
    };
    for (const auto& [start, index] : by_gpu_[gpu.index]) add(index, at(index).phase == SimSlice::Phase::kCreating);
    for (const SliceIndex index : waiting_[gpu.index]) add(index, true);
    const auto place = [](const SeenSlice& seen) { return std::tie(seen.slice, seen.generation); };
    std::ranges::sort(observed.slices, {}, place);
    events_.push_back({.at = now, .what = std::move(observed)});
  }
}

// ---- indices

SimSlice& SliceTable::change(SliceIndex index) {
  SimSlice& slice = slices_[index.value];
  touch(slice.slice.gpu);
  return slice;
}

SliceIndex SliceTable::index_for_new() {
  if (free_.empty()) {
    slices_.emplace_back();
    return {static_cast<std::uint32_t>(slices_.size() - 1)};
  }
  const SliceIndex index = free_.back();
  free_.pop_back();
  return index;
}

void SliceTable::release(SliceIndex index) {
  SimSlice& slice = change(index);
  slice.phase = SimSlice::Phase::kGone;
  ++slice.generation;
  free_.push_back(index);
}

// ---- helpers

void SliceTable::report_ready(SliceIndex index, Instant now) {
  events_.push_back({.at = now, .what = SliceReady{.slice = at(index).slice, .assignment = at(index).assigned_as}});
}

void SliceTable::report_gone(SliceIndex index, Instant now) {
  events_.push_back({.at = now, .what = SliceGone{.slice = at(index).slice, .generation = at(index).created_as}});
}

std::optional<SliceIndex> SliceTable::find(const Slice& slice) const {
  for (const SliceIndex index : waiting_[slice.gpu.index]) {
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
  SimSlice& slice = change(index);
  const std::uint64_t generation = ++slice.generation;
  slice.continues_at = now + after;
  timers_.push({.at = now + after, .sequence = timer_sequence_++, .slice = index, .generation = generation});
}

void SliceTable::journal(SliceEvent event, SliceIndex index, Instant now) {
  if (!journal_) return;
  const Holding& holding = at(index).holding;
  journal_(SliceRecord{.at = now,
                       .event = event,
                       .slice = holding.slice,
                       .role = holding.role,
                       .services = holding.services,
                       .generation = at(index).created_as});
}

void SliceTable::journal_point(const SimSlice& slice, Instant now) const {
  if (journal_) journal_(PointRecord{.at = now, .slice = slice.holding.slice, .point = slice.point});
}

void SliceTable::count_change(const SimSlice& slice, Instant now) {
  if (now == Instant()) return;
  sums_.count_change(slice.holding.services);
}

std::vector<SliceIndex> SliceTable::up_slices_of(ServiceId service) const {
  std::vector<SliceIndex> up;
  for (std::uint32_t index = 0; index < slices_.size(); ++index) {
    const SimSlice& slice = slices_[index];
    if (slice.phase != SimSlice::Phase::kUp) continue;
    if (std::ranges::find(slice.holding.services, service) != slice.holding.services.end()) up.push_back({index});
  }
  return up;
}

void SliceTable::forget_variants_of(ServiceId service) {
  const auto forget = [&](const Holding& holding, std::optional<PointChoice>& point) {
    const bool is_held = std::ranges::find(holding.services, service) != holding.services.end();
    if (!is_held || !point || point->variant == 0) return;
    point.reset();
    touch(holding.slice.gpu);
  };
  for (SimSlice& slice : slices_) {
    forget(slice.holding, slice.point);
    if (slice.next) forget(slice.next->holding, slice.next->point);
  }
}

void SliceTable::set_can_serve(SliceIndex slice, bool can_serve, Instant now) {
  account(now);
  change(slice).can_serve = can_serve;
}

// ---- sums over time

void SliceTable::account(Instant now) {
  if (now == sums_.reached()) return;
  std::sort(changed_gpus_.begin(), changed_gpus_.end());
  changed_gpus_.erase(std::unique(changed_gpus_.begin(), changed_gpus_.end()), changed_gpus_.end());
  for (const GpuId gpu : changed_gpus_) sums_.set_gpu(gpu, held_on(gpu));
  changed_gpus_.clear();
  sums_.advance(now);
}

HeldGpu SliceTable::held_on(GpuId gpu) const {
  HeldGpu held{.has_slices = !by_gpu_[gpu.index].empty(), .parts = {}};
  for (const auto& [start, index] : by_gpu_[gpu.index]) {
    const SimSlice& slice = at(index);
    const std::vector<ServiceId>& holders = slice.holding.services;
    // A slice that retrains, or waits for the next retraining, is not lost; while it changes to or from that role it
    // is.
    const bool is_up = slice.phase == SimSlice::Phase::kUp;
    const bool is_lost = !is_up || (slice.holding.role == Role::kInference && !slice.can_serve);
    for (const ServiceId service : holders) {
      held.parts.push_back({.service = service,
                            .sms = slice.sms,
                            .holder_count = static_cast<int>(holders.size()),
                            .is_first_holder = service == holders.front(),
                            .is_lost = is_lost});
    }
  }
  return held;
}

void SliceTable::settle_sums(Instant now) {
  account(now);
  sums_.settle();
}

}  // namespace berth::sim
