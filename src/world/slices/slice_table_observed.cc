/// SliceTable: what exists on devices, as observed, and GPUs that are lost.
#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "world/slices/slice_table.h"

namespace berth::world {

// ---- GPUs that are lost

void SliceTable::lose(GpuId gpu, Instant now) {
  account(now);
  if (driver_.can_devices_differ()) remember_made_here(gpu);
  const SlicePlaces::Cleared cleared = places_.clear(gpu);
  lost_.insert(lost_.end(), cleared.waiting.begin(), cleared.waiting.end());
  for (const auto& [start, index] : cleared.existing) lose_slice(index, SliceEvent::kLost, now);
}

void SliceTable::remember_made_here(GpuId gpu) {
  for (const auto& [start, index] : places_.existing(gpu)) {
    const TrackedSlice& slice = at(index);
    if (!slice.is_foreign) made_here_[gpu.index][slice.slice] = slice.created_as;
  }
}

void SliceTable::lose_slice(SliceIndex index, SliceEvent event, Instant now) {
  TrackedSlice& slice = change(index);
  const bool has_users = slice.phase == SlicePhase::kUp || slice.phase == SlicePhase::kDraining;
  if (has_users && !slice.holding.services.empty()) {
    effects_.push_back({.kind = SliceEffect::Kind::kLose, .slice = index});
  }
  if (slice.phase != SlicePhase::kCreating && !slice.is_foreign) journal(event, index, now);
  lost_.push_back(index);
}

void SliceTable::forget_lost() {
  for (const SliceIndex index : std::exchange(lost_, {})) release(index);
}

// ---- foreign slices

void SliceTable::add_foreign(const Slice& foreign, Instant now) {
  account(now);
  place_foreign(foreign, now);
  report_observed(now);
}

void SliceTable::place_foreign(const Slice& foreign, Instant now) {
  ENSURE(has_room(foreign));
  const SliceIndex index = places_.add(foreign);
  TrackedSlice& slice = change(index);
  slice.phase = SlicePhase::kUp;
  slice.is_foreign = true;
  busy_.add(index, foreign.gpu, slice.sms);
  places_.place(index);
  fail_blocked(foreign.gpu, now);
  reports_.want_observed(foreign.gpu);
}

void SliceTable::own(SliceIndex index, std::uint64_t generation, Instant now) {
  TrackedSlice& slice = change(index);
  slice.is_foreign = false;
  slice.created_as = slice.assigned_as = generation;
  journal(SliceEvent::kCreated, index, now);
}

bool SliceTable::adopt(const Slice& slice, ServiceId service, std::uint64_t number, Instant now) {
  const auto existing = places_.find_existing(slice);
  if (existing ? !at(*existing).is_foreign : !has_room(slice)) return false;
  account(now);
  if (!existing) place_foreign(slice, now);
  const SliceIndex index = *places_.find_existing(slice);
  own(index, number, now);
  TrackedSlice& adopted = change(index);
  adopted.holding = {.slice = slice, .services = {service}};
  adopted.phase = SlicePhase::kStarting;
  known_numbers_[slice.gpu.index] = std::max(known_numbers_[slice.gpu.index], number);
  reports_.add_adopted({.slice = slice, .service = service, .number = number}, now);
  begin_start(index, now);
  report_observed(now);
  return true;
}

void SliceTable::clear_foreign(GpuId gpu, Instant now) {
  account(now);
  if (!drop_foreign_but(gpu, {})) return;
  begin_waiting(now);
  report_observed(now);
}

bool SliceTable::drop_foreign_but(GpuId gpu, const std::vector<Slice>& existing) {
  std::vector<SliceIndex> gone;
  for (const auto& [start, index] : places_.existing(gpu)) {
    if (at(index).is_foreign && !std::ranges::binary_search(existing, at(index).slice)) gone.push_back(index);
  }
  for (const SliceIndex index : gone) {
    places_.remove(index);
    release(index);
  }
  if (gone.empty()) return false;
  reports_.want_observed(gpu);
  return true;
}

// ---- what exists on a GPU

void SliceTable::observe(GpuId gpu, const ObservedLayout& layout, Instant now) {
  account(now);
  drop_foreign_but(gpu, layout.slices);
  if (!layout.is_of_others) drop_missing(gpu, layout.slices, now);
  for (const Slice& slice : layout.slices) {
    if (places_.find_existing(slice) || !has_room(slice)) continue;
    place_foreign(slice, now);
    const auto made = made_here_[gpu.index].find(slice);
    if (made != made_here_[gpu.index].end()) own(*places_.find_existing(slice), made->second, now);
  }
  made_here_[gpu.index].clear();
  for (const Slice& slice : layout.orphans) clear_orphan(slice, now);
  begin_waiting(now);
  report_observed(now);
}

void SliceTable::drop_missing(GpuId gpu, const std::vector<Slice>& existing, Instant now) {
  std::vector<SliceIndex> missing;
  for (const auto& [start, index] : places_.existing(gpu)) {
    const TrackedSlice& slice = at(index);
    if (!is_changing(slice) && !std::ranges::binary_search(existing, slice.slice)) missing.push_back(index);
  }
  for (const SliceIndex index : missing) {
    places_.remove(index);
    lose_slice(index, SliceEvent::kDestroyed, now);
  }
  if (!missing.empty()) reports_.want_observed(gpu);
}

void SliceTable::clear_orphan(const Slice& slice, Instant now) {
  const auto index = places_.find_existing(slice);
  if (!index || at(*index).is_foreign || is_changing(at(*index))) return;
  const TrackedSlice& known = at(*index);
  const bool has_users = known.phase != SlicePhase::kStarting && !known.holding.services.empty();
  if (has_users) {
    journal(SliceEvent::kDraining, *index, now);
    effects_.push_back({.kind = SliceEffect::Kind::kLose, .slice = *index});
  }
  change(*index).is_unwanted = true;
  reports_.want_observed(slice.gpu);
  begin_destroy(*index, now);
}

}  // namespace berth::world
