/// Slices that are made outside: what devices are to do, how that ended, and what is seen on them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "sim/world/reconcile.h"
#include "sim/world/slice_table.h"

namespace berth::sim {

// ---- what devices are to do

std::vector<DeviceAction> SliceTable::device_actions() const {
  std::vector<DeviceAction> actions;
  for (const auto& [index, generation] : to_order_) {
    const SimSlice& slice = at(index);
    if (slice.generation != generation) continue;  // its GPU was lost meanwhile
    const bool is_creation = slice.phase == SimSlice::Phase::kCreating;
    actions.push_back({.kind = is_creation ? ActionKind::kCreation : ActionKind::kDestruction,
                       .slice = slice.slice,
                       .generation = slice.created_as,
                       .was_ordered = slice.was_ordered});
  }
  return actions;
}

void SliceTable::give_out_device_actions() {
  for (const auto& [index, generation] : std::exchange(to_order_, {})) {
    SimSlice& slice = slices_[index.value];
    if (slice.generation != generation) continue;
    slice.was_ordered = true;
    note_change(slice.slice.gpu);
  }
}

void SliceTable::end_device_action(const DeviceActionEnd& end, Instant now) {
  account(now);
  if (end.is_late) {
    // What a late destruction leaves is seen.
    if (end.kind == ActionKind::kCreation && end.is_done) stand_late(end, now);
    return;
  }
  const auto& standing = by_gpu_[end.slice.gpu.index];
  const auto it = standing.find(end.slice.start);
  if (it == standing.end()) return;
  const SliceIndex index = it->second;
  const SimSlice& slice = at(index);
  const bool is_creation = end.kind == ActionKind::kCreation;
  const SimSlice::Phase phase = is_creation ? SimSlice::Phase::kCreating : SimSlice::Phase::kDestroying;
  if (slice.slice != end.slice || slice.created_as != end.generation || slice.phase != phase) return;
  End how{.how = end.is_done ? ActionEnd::kDone : ActionEnd::kFailed, .why = end.message};
  // It counts as made until it is seen that it is not: what stands is not to be taken for that of others.
  if (is_creation && !end.is_known) how.how = ActionEnd::kDoneButReportedFailed;
  if (is_creation) {
    created(index, how, now);
  } else {
    destroyed(index, how, now);
  }
  begin_waiting(now);
  report_seen(now);
}

void SliceTable::stand_late(const DeviceActionEnd& end, Instant now) {
  const auto standing = by_gpu_[end.slice.gpu.index].find(end.slice.start);
  const bool is_seen = standing != by_gpu_[end.slice.gpu.index].end() && at(standing->second).slice == end.slice &&
                       at(standing->second).is_foreign;
  if (!is_seen && !has_room(end.slice)) return;
  if (!is_seen) place_foreign(end.slice, now);
  own(*find(end.slice), end.generation, now);
  to_observe_.push_back(end.slice.gpu);
  report_seen(now);
}

Plan SliceTable::take_possible(const Plan& plan, Instant now) {
  Plan possible = plan;
  if (devices_ != Devices::kOutside) return possible;
  std::vector<DeviceMemory> devices;
  devices.reserve(by_gpu_.size());
  for (std::uint32_t gpu = 0; gpu < by_gpu_.size(); ++gpu) devices.push_back(memory_of({gpu}));
  std::vector<std::set<Slice>> staying = staying_slices(devices);
  drop_impossible(staying, devices, possible);
  for (std::uint32_t gpu = 0; gpu < by_gpu_.size(); ++gpu) {
    if (devices[gpu].known_number == known_numbers_[gpu]) continue;
    pass_over({gpu}, devices[gpu].known_number);
    report_passed_over(plan, {gpu}, now);
    to_observe_.push_back({gpu});
  }
  report_seen(now);
  return possible;
}

void SliceTable::report_passed_over(const Plan& plan, GpuId gpu, Instant now) {
  constexpr const char* kWhy = "something else stands on its GPU than the plan was made for";
  const auto report = [&](ActionKind kind, const Slice& slice, std::uint64_t generation, std::uint64_t assignment) {
    events_.push_back(
        {.at = now,
         .what = ActionFailed{
             .kind = kind, .slice = slice, .generation = generation, .assignment = assignment, .message = kWhy}});
  };
  std::map<Slice, std::uint64_t> created;  // as what number
  std::map<Slice, std::uint64_t> assigned;
  for (const Action& action : plan.actions) {
    const Slice& slice = slice_of(action.what);
    if (slice.gpu != gpu) continue;
    if (std::holds_alternative<CreateSlice>(action.what)) created[slice] = action.number;
    if (std::holds_alternative<AssignSlice>(action.what)) assigned[slice] = action.number;
    if (!std::holds_alternative<DestroySlice>(action.what)) continue;
    const auto index = find(slice);
    // One that leaves already needs no destruction, and its end is still to come.
    const bool stays = index && !at(*index).is_unwanted;
    if (stays) report(ActionKind::kDestruction, slice, at(*index).created_as, at(*index).assigned_as);
  }
  for (const auto& [slice, number] : created) {
    const auto owned = assigned.find(slice);
    report(ActionKind::kCreation, slice, number, owned == assigned.end() ? number : owned->second);
  }
  for (const auto& [slice, number] : assigned) {
    const auto index = find(slice);
    const bool stands = index && !at(*index).is_unwanted && !created.contains(slice);
    if (stands) report(ActionKind::kCreation, slice, at(*index).created_as, number);
  }
}

// ---- what stands on them

void SliceTable::add_foreign(const Slice& foreign, Instant now) {
  account(now);
  place_foreign(foreign, now);
  report_seen(now);
}

void SliceTable::place_foreign(const Slice& foreign, Instant now) {
  ENSURE(has_room(foreign));
  const SliceIndex index = index_for_new();
  SimSlice& slice = slices_[index.value];
  const std::uint64_t generation = slice.generation;
  slice = SimSlice();
  slice.slice = foreign;
  slice.holding.slice = foreign;
  slice.phase = SimSlice::Phase::kUp;
  slice.is_foreign = true;
  slice.sequence = slice_sequence_++;
  slice.generation = generation;
  slice.sms = profile_sms(scenario_.model_of(foreign.gpu), foreign.profile);
  touch(foreign.gpu);
  busy_.add(index, foreign.gpu, slice.sms);
  by_gpu_[foreign.gpu.index].emplace(foreign.start, index);
  fail_blocked(foreign.gpu, now);
  to_observe_.push_back(foreign.gpu);
}

void SliceTable::own(SliceIndex index, std::uint64_t generation, Instant now) {
  SimSlice& slice = change(index);
  slice.is_foreign = false;
  slice.created_as = slice.assigned_as = generation;
  journal(SliceEvent::kCreated, index, now);
}

void SliceTable::clear_foreign(GpuId gpu, Instant now) {
  account(now);
  if (!drop_foreign_but(gpu, {})) return;
  begin_waiting(now);
  report_seen(now);
}

bool SliceTable::drop_foreign_but(GpuId gpu, const std::vector<Slice>& standing) {
  std::vector<SliceIndex> gone;
  for (const auto& [start, index] : by_gpu_[gpu.index]) {
    if (at(index).is_foreign && !std::ranges::binary_search(standing, at(index).slice)) gone.push_back(index);
  }
  for (const SliceIndex index : gone) {
    by_gpu_[gpu.index].erase(at(index).slice.start);
    release(index);
  }
  if (gone.empty()) return false;
  roomier_gpus_.push_back(gpu);
  to_observe_.push_back(gpu);
  return true;
}

void SliceTable::see(GpuId gpu, const Sight& sight, Instant now) {
  account(now);
  drop_foreign_but(gpu, sight.standing);
  drop_missing(gpu, sight.standing, now);
  for (const Slice& slice : sight.standing) {
    const auto known = by_gpu_[gpu.index].find(slice.start);
    const bool is_known = known != by_gpu_[gpu.index].end() && at(known->second).slice == slice;
    if (is_known || !has_room(slice)) continue;
    place_foreign(slice, now);
    const auto made = made_here_[gpu.index].find(slice);
    if (made != made_here_[gpu.index].end()) own(*find(slice), made->second, now);
  }
  made_here_[gpu.index].clear();
  for (const Slice& slice : sight.remains) clear_remains(slice, now);
  begin_waiting(now);
  report_seen(now);
}

void SliceTable::remember_made_here(GpuId gpu) {
  for (const auto& [start, index] : by_gpu_[gpu.index]) {
    const SimSlice& slice = at(index);
    if (!slice.is_foreign) made_here_[gpu.index][slice.slice] = slice.created_as;
  }
}

void SliceTable::clear_remains(const Slice& slice, Instant now) {
  const auto standing = by_gpu_[slice.gpu.index].find(slice.start);
  if (standing == by_gpu_[slice.gpu.index].end()) return;
  const SliceIndex index = standing->second;
  const SimSlice& known = at(index);
  const bool is_changing = known.phase == SimSlice::Phase::kCreating || known.phase == SimSlice::Phase::kDestroying;
  if (known.slice != slice || known.is_foreign || is_changing) return;
  const bool has_users = known.phase != SimSlice::Phase::kStarting && !known.holding.services.empty();
  if (has_users) {
    journal(SliceEvent::kDraining, index, now);
    effects_.push_back({.kind = SliceEffect::Kind::kLose, .slice = index});
  }
  change(index).is_unwanted = true;
  to_observe_.push_back(slice.gpu);
  begin_destroy(index, now);
}

bool SliceTable::drop_missing(GpuId gpu, const std::vector<Slice>& standing, Instant now) {
  std::vector<SliceIndex> missing;
  for (const auto& [start, index] : by_gpu_[gpu.index]) {
    const SimSlice& slice = at(index);
    const bool is_changing = slice.phase == SimSlice::Phase::kCreating || slice.phase == SimSlice::Phase::kDestroying;
    if (!is_changing && !std::ranges::binary_search(standing, slice.slice)) missing.push_back(index);
  }
  for (const SliceIndex index : missing) {
    by_gpu_[gpu.index].erase(at(index).slice.start);
    lose_slice(index, SliceEvent::kDestroyed, now);
  }
  if (missing.empty()) return false;
  roomier_gpus_.push_back(gpu);
  to_observe_.push_back(gpu);
  return true;
}

}  // namespace berth::sim
