/// SliceTable: creations and destructions on devices, how they fail, and those whose results are reported.
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "world/slices/reconcile.h"
#include "world/slices/slice_table.h"

namespace berth::world {
namespace {

constexpr const char* kTimedOut = "no end after 60 s";

}  // namespace

// ---- what the driver does

DeviceAction SliceTable::action_of(const TrackedSlice& slice, ActionKind kind) {
  return {.kind = kind, .slice = slice.slice, .generation = slice.created_as, .was_ordered = slice.was_ordered};
}

void SliceTable::begin_on_device(SliceIndex index, ActionKind kind, Instant now) {
  TrackedSlice& slice = change(index);
  slice.will_time_out = false;
  slice.was_ordered = false;
  const auto time = driver_.begin(action_of(slice, kind));
  if (time) {
    slice.will_time_out = time->times_out;
    set_timer(index, time->duration, now);
    return;
  }
  ++slice.generation;  // earlier timers have no effect
  slice.continues_at = Instant::never();
}

ActionResult SliceTable::end_on_device(SliceIndex index, ActionKind kind) {
  if (at(index).will_time_out) return {.outcome = ActionOutcome::kFailed, .why = kTimedOut};
  return driver_.end(action_of(at(index), kind));
}

// ---- failures

void SliceTable::fail_creation(SliceIndex index, const std::string& why, Instant now) {
  const TrackedSlice& slice = change(index);
  places_.remove(index);
  reports_.add_failed(slice, ActionKind::kCreation, why, now);
  // Its destruction was ordered meanwhile, and there is nothing to destroy.
  if (slice.is_unwanted) reports_.add_gone(slice, now);
  release(index);
}

void SliceTable::fail_destruction(SliceIndex index, const std::string& why, Instant now) {
  disown(index);
  TrackedSlice& slice = change(index);
  slice.is_unwanted = false;
  fail_blocked(slice.slice.gpu, now);
  reports_.add_failed(slice, ActionKind::kDestruction, why, now);
}

void SliceTable::disown(SliceIndex index) {
  TrackedSlice& slice = change(index);
  slice.phase = SlicePhase::kUp;
  slice.was_ordered = false;
  ++slice.generation;
  slice.holding = {.slice = slice.slice, .services = {}};
  slice.point.reset();
  slice.next.reset();
}

void SliceTable::fail_blocked(GpuId gpu, Instant now) {
  const std::vector<SliceIndex> waiting = places_.waiting(gpu);
  for (const SliceIndex index : waiting) {
    if (!places_.clashes_with_staying(at(index).slice)) continue;
    places_.stop_waiting(index);
    reports_.add_failed(at(index), ActionKind::kCreation, "a slice that stays takes its place", now);
    release(index);
  }
}

// ---- actions whose results are reported

bool SliceTable::awaits(const DeviceAction& action) const {
  const auto index = places_.find_existing(action.slice);
  const SlicePhase phase = action.kind == ActionKind::kCreation ? SlicePhase::kCreating : SlicePhase::kDestroying;
  return index && at(*index).created_as == action.generation && at(*index).phase == phase;
}

void SliceTable::mark_ordered(const DeviceAction& action) {
  ENSURE(awaits(action));
  places_.at(*places_.find_existing(action.slice)).was_ordered = true;
  mark_changed(action.slice.gpu);
}

void SliceTable::end_device_action(const DeviceActionEnd& end, Instant now) {
  account(now);
  const bool is_creation = end.kind == ActionKind::kCreation;
  if (end.is_late) {
    // An observation shows what a late destruction left.
    if (is_creation && end.is_done) keep_late_slice(end, now);
    return;
  }
  if (!awaits({.kind = end.kind, .slice = end.slice, .generation = end.generation})) return;
  const SliceIndex index = *places_.find_existing(end.slice);
  ActionResult result{.outcome = end.is_done ? ActionOutcome::kDone : ActionOutcome::kFailed, .why = end.message};
  // It counts as created until an observation shows that it does not exist: an existing slice must not be taken for a
  // foreign one.
  if (is_creation && !end.is_known) result.outcome = ActionOutcome::kDoneButReportedFailed;
  if (is_creation) {
    created(index, result, now);
  } else {
    destroyed(index, result, now);
  }
  begin_waiting(now);
  report_observed(now);
}

void SliceTable::keep_late_slice(const DeviceActionEnd& end, Instant now) {
  const auto existing = places_.find_existing(end.slice);
  const bool is_observed = existing && at(*existing).is_foreign;
  if (!is_observed && !has_room(end.slice)) return;
  if (!is_observed) place_foreign(end.slice, now);
  own(*places_.find_existing(end.slice), end.generation, now);
  reports_.want_observed(end.slice.gpu);
  report_observed(now);
}

// ---- plans that do not fit devices that differ

Plan SliceTable::take_possible(const Plan& plan, Instant now) {
  Plan possible = plan;
  if (!driver_.can_devices_differ()) return possible;
  const auto gpu_count = static_cast<std::uint32_t>(known_numbers_.size());
  std::vector<DeviceMemory> devices;
  devices.reserve(gpu_count);
  for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu) devices.push_back(memory_of({gpu}));
  std::vector<std::set<Slice>> staying = staying_slices(devices);
  drop_impossible(staying, devices, possible);
  for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu) {
    if (devices[gpu].known_number == known_numbers_[gpu]) continue;
    pass_over({gpu}, devices[gpu].known_number);
    report_passed_over(plan, {gpu}, now);
    reports_.want_observed({gpu});
  }
  report_observed(now);
  return possible;
}

void SliceTable::report_passed_over(const Plan& plan, GpuId gpu, Instant now) {
  constexpr const char* kWhy = "something else stands on its GPU than the plan was made for";
  const auto report = [&](ActionKind kind, const Slice& slice, std::uint64_t generation, std::uint64_t assignment) {
    reports_.add_failed(
        {.kind = kind, .slice = slice, .generation = generation, .assignment = assignment, .message = kWhy}, now);
  };
  std::map<Slice, std::uint64_t> created;  // with their action numbers
  std::map<Slice, std::uint64_t> assigned;
  for (const Action& action : plan.actions) {
    const Slice& slice = slice_of(action.what);
    if (slice.gpu != gpu) continue;
    if (std::holds_alternative<CreateSlice>(action.what)) created[slice] = action.number;
    if (std::holds_alternative<AssignSlice>(action.what)) assigned[slice] = action.number;
    if (!std::holds_alternative<DestroySlice>(action.what)) continue;
    const auto index = places_.find(slice);
    // A slice that already leaves needs no destruction, and its result is still to come.
    const bool stays = index && !at(*index).is_unwanted;
    if (stays) report(ActionKind::kDestruction, slice, at(*index).created_as, at(*index).assigned_as);
  }
  for (const auto& [slice, number] : created) {
    const auto owned = assigned.find(slice);
    report(ActionKind::kCreation, slice, number, owned == assigned.end() ? number : owned->second);
  }
  for (const auto& [slice, number] : assigned) {
    const auto index = places_.find(slice);
    const bool stays = index && !at(*index).is_unwanted && !created.contains(slice);
    if (stays) report(ActionKind::kCreation, slice, at(*index).created_as, number);
  }
}

}  // namespace berth::world
