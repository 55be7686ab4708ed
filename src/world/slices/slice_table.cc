#include "world/slices/slice_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "domain/profile/operating_point.h"
#include "domain/values/start_times.h"

namespace berth::world {

SliceTable::SliceTable(const Scenario& scenario, SliceJournal journal, BusyTable& busy, SliceDriver& driver)
    : scenario_(scenario),
      journal_(std::move(journal)),
      busy_(busy),
      driver_(driver),
      places_(scenario),
      made_here_(scenario.gpu_count()),
      known_numbers_(scenario.gpu_count()),
      sums_(scenario),
      is_unsaved_(scenario.gpu_count(), 0) {}

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
  report_observed(now);
}

void SliceTable::report_unowned(Instant now) {
  // Slices with holders are reported when they are assigned.
  ENSURE(places_.are_indices_in_order());
  for (std::uint32_t index = 0; index < places_.all().size(); ++index) {
    if (!at({index}).holding.services.empty()) continue;
    journal(SliceEvent::kCreated, {index}, now);
    reports_.add_ready(at({index}), now);
  }
}

void SliceTable::create(const Slice& created, std::uint64_t number, bool is_at_once) {
  const SliceIndex index = places_.add(created);
  TrackedSlice& slice = change(index);
  slice.created_as = slice.assigned_as = number;
  busy_.add(index, created.gpu, slice.sms);
  if (is_at_once) {
    places_.place(index);
    slice.phase = SlicePhase::kUp;
    // The journal reports it together with its holders, which the assignment of the same plan sets.
  } else {
    places_.wait(index);
  }
}

void SliceTable::destroy(const DestroySlice& action, Instant now) {
  const auto index = places_.find(action.slice);
  ENSURE(index.has_value());
  TrackedSlice& slice = change(*index);
  slice.is_unwanted = true;
  switch (slice.phase) {
    case SlicePhase::kWaitingForRoom:
      places_.stop_waiting(*index);
      reports_.add_gone(slice, now);
      release(*index);
      return;
    case SlicePhase::kStarting:
      if (slice.has_program) return drain_start(*index, now);
      begin_destroy(*index, now);
      return;
    case SlicePhase::kUp:
      begin_drain(*index, now);
      return;
    case SlicePhase::kCreating:
    case SlicePhase::kDraining:
    case SlicePhase::kDestroying:
    case SlicePhase::kGone:
      return;  // continues by itself
  }
}

void SliceTable::assign(const AssignSlice& action, std::uint64_t number, Instant now, bool is_at_once) {
  const auto index = places_.find(action.holding.slice);
  ENSURE(index.has_value());
  TrackedSlice& slice = change(*index);
  slice.assigned_as = number;
  switch (slice.phase) {
    case SlicePhase::kWaitingForRoom:
    case SlicePhase::kCreating:
      slice.holding = action.holding;
      slice.point = action.point;
      return;
    case SlicePhase::kStarting: {
      const bool is_restart = needs_restart(slice, action);
      if (is_restart && slice.has_program) {
        slice.next = action;
        return drain_start(*index, now);
      }
      slice.holding = action.holding;
      slice.point = action.point;
      if (is_restart) begin_start(*index, now);
      return;
    }
    case SlicePhase::kDraining:
      slice.next = action;
      return;
    case SlicePhase::kUp:
      assign_to_up(*index, action, now, is_at_once);
      return;
    case SlicePhase::kDestroying:
    case SlicePhase::kGone:
      ENSURE(false && "a slice that is being destroyed is not assigned");
  }
}

void SliceTable::assign_to_up(SliceIndex index, const AssignSlice& action, Instant now, bool is_at_once) {
  TrackedSlice& slice = change(index);
  if (!is_at_once && needs_restart(slice, action)) {
    slice.next = action;
    begin_drain(index, now);
    return;
  }
  const bool is_new_point = slice.point != action.point;
  slice.holding = action.holding;
  slice.point = action.point;
  if (is_at_once) {
    journal(SliceEvent::kCreated, index, now);
    up(index, now);
    return;
  }
  if (is_new_point) journal_point(slice, now);
  effects_.push_back({.kind = SliceEffect::Kind::kNewBatchLimit, .slice = index});
  reports_.add_ready(slice, now);
}

bool SliceTable::needs_restart(const TrackedSlice& slice, const AssignSlice& action) const {
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
    const SlicePhase phase = at(timer.slice).phase;
    if (phase == SlicePhase::kStarting) up(timer.slice, now);
    if (phase == SlicePhase::kCreating) created(timer.slice, end_on_device(timer.slice, ActionKind::kCreation), now);
    if (phase == SlicePhase::kDestroying) {
      destroyed(timer.slice, end_on_device(timer.slice, ActionKind::kDestruction), now);
    }
  }
  begin_waiting(now);
  report_observed(now);
}

void SliceTable::begin_waiting(Instant now) {
  for (const SliceIndex index : places_.take_candidates()) {
    if (!has_room(at(index).slice)) continue;
    places_.stop_waiting(index);
    places_.place(index);
    change(index).phase = SlicePhase::kCreating;
    begin_on_device(index, ActionKind::kCreation, now);
  }
}

void SliceTable::created(SliceIndex index, const ActionResult& result, Instant now) {
  if (result.outcome == ActionOutcome::kFailed) return fail_creation(index, result.why, now);
  TrackedSlice& slice = change(index);
  slice.was_ordered = false;
  if (result.outcome == ActionOutcome::kDoneButReportedFailed) {
    reports_.add_failed(slice, ActionKind::kCreation, result.why, now);
    disown(index);
  }
  journal(SliceEvent::kCreated, index, now);
  count_change(slice, now);
  if (slice.is_unwanted) return begin_destroy(index, now);
  if (result.outcome == ActionOutcome::kDone) begin_start(index, now);
}

void SliceTable::begin_start(SliceIndex index, Instant now) {
  TrackedSlice& slice = change(index);
  if (slice.holding.services.empty()) {
    slice.phase = SlicePhase::kUp;
    ++slice.generation;
    reports_.add_ready(slice, now);
    return;
  }
  slice.phase = SlicePhase::kStarting;
  if (program_holder(slice.holding)) return await_program(index);
  Micros start;
  if (slice.holding.role == Role::kInference) {
    for (const ServiceId service : slice.holding.services)
      start = std::max(start, start_time(scenario_, scenario_.services[service.index]));
  }
  set_timer(index, scenario_.changes.plumbing + start, now);
}

void SliceTable::up(SliceIndex index, Instant now) {
  TrackedSlice& slice = change(index);
  slice.phase = SlicePhase::kUp;
  slice.can_serve = true;
  if (slice.point) journal_point(slice, now);
  journal(SliceEvent::kServing, index, now);
  if (!slice.holding.services.empty()) effects_.push_back({.kind = SliceEffect::Kind::kStart, .slice = index});
  reports_.add_ready(slice, now);
}

void SliceTable::begin_drain(SliceIndex index, Instant now) {
  TrackedSlice& slice = change(index);
  slice.phase = SlicePhase::kDraining;
  if (slice.holding.services.empty()) return drained(index, now);
  journal(SliceEvent::kDraining, index, now);
  effects_.push_back({.kind = SliceEffect::Kind::kStop, .slice = index});
}

void SliceTable::drained(SliceIndex index, Instant now) {
  account(now);
  TrackedSlice& slice = change(index);
  ENSURE(slice.phase == SlicePhase::kDraining);
  slice.is_idle = slice.has_program;
  if (slice.is_idle) return;
  if (slice.is_unwanted) return begin_destroy(index, now);
  ENSURE(slice.next.has_value());
  slice.holding = slice.next->holding;
  slice.point = slice.next->point;
  slice.next.reset();
  begin_start(index, now);
}

void SliceTable::begin_destroy(SliceIndex index, Instant now) {
  change(index).phase = SlicePhase::kDestroying;
  begin_on_device(index, ActionKind::kDestruction, now);
}

void SliceTable::destroyed(SliceIndex index, const ActionResult& result, Instant now) {
  if (result.outcome == ActionOutcome::kFailed) return fail_destruction(index, result.why, now);
  const bool is_reported_failed = result.outcome == ActionOutcome::kDoneButReportedFailed;
  if (is_reported_failed) reports_.add_failed(at(index), ActionKind::kDestruction, result.why, now);
  gone(index, now, is_reported_failed ? Report::kNone : Report::kGone);
}

void SliceTable::gone(SliceIndex index, Instant now, Report report) {
  const TrackedSlice& slice = change(index);
  places_.remove(index);
  journal(SliceEvent::kDestroyed, index, now);
  count_change(slice, now);
  if (report == Report::kGone) reports_.add_gone(slice, now);
  release(index);
}

void SliceTable::set_timer(SliceIndex index, Micros after, Instant now) {
  TrackedSlice& slice = change(index);
  const std::uint64_t generation = ++slice.generation;
  slice.continues_at = now + after;
  timers_.push({.at = now + after, .sequence = timer_sequence_++, .slice = index, .generation = generation});
}

}  // namespace berth::world
