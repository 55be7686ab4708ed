/// SliceTable: what devices remember, records and sums.
#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "world/slices/slice_table.h"

namespace berth::world {

// ---- what devices remember

void SliceTable::resume(const std::vector<DeviceMemory>& devices, Instant now) {
  ENSURE(places_.all().empty() && devices.size() == known_numbers_.size());
  account(now);
  std::vector<const SliceMemory*> slices;
  for (std::size_t gpu = 0; gpu < devices.size(); ++gpu) {
    known_numbers_[gpu] = devices[gpu].known_number;
    for (const SliceMemory& slice : devices[gpu].slices) slices.push_back(&slice);
  }
  std::ranges::sort(slices, {}, &SliceMemory::order);
  for (const SliceMemory* slice : slices) remember(*slice, now);
  for (std::uint32_t index = 0; index < slices.size(); ++index) {
    const TrackedSlice& slice = at({index});
    if (slice.phase == SlicePhase::kDraining) {
      drained({index}, now);  // starts the next step, as nothing runs on it
      continue;
    }
    if (slice.phase == SlicePhase::kCreating) driver_.resume(action_of(slice, ActionKind::kCreation));
    if (slice.phase == SlicePhase::kDestroying) driver_.resume(action_of(slice, ActionKind::kDestruction));
    const bool works = slice.phase == SlicePhase::kUp && !slice.holding.services.empty();
    if (works) effects_.push_back({.kind = SliceEffect::Kind::kStart, .slice = {index}});
  }
  begin_waiting(now);
}

void SliceTable::remember(const SliceMemory& memory, Instant now) {
  const SliceIndex index = places_.add_again(memory.slice, memory.order);
  TrackedSlice& slice = change(index);
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
  slice.has_program = memory.has_program.value_or(false) && driver_.has_programs();
  busy_.add(index, memory.slice.gpu, slice.sms);
  if (slice.phase == SlicePhase::kWaitingForRoom) {
    places_.wait(index);
  } else {
    places_.place(index);
  }
  if (memory.continues_at != Instant::never()) set_timer(index, std::max(memory.continues_at, now) - now, now);
}

DeviceMemory SliceTable::memory_of(GpuId gpu) const {
  DeviceMemory memory{.known_number = known_numbers_[gpu.index], .slices = {}};
  const auto add = [&](SliceIndex index) {
    const TrackedSlice& slice = at(index);
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
                             .was_ordered = slice.was_ordered,
                             .has_program = slice.has_program ? std::optional(true) : std::nullopt});
    const bool has_timer = slice.phase == SlicePhase::kStarting || is_changing(slice);
    if (has_timer) memory.slices.back().continues_at = slice.continues_at;
  };
  for (const auto& [start, index] : places_.existing(gpu)) add(index);
  for (const SliceIndex index : places_.waiting(gpu)) add(index);
  std::ranges::sort(memory.slices, {}, &SliceMemory::order);
  return memory;
}

std::vector<GpuId> SliceTable::take_changed_gpus() {
  for (const GpuId gpu : unsaved_gpus_) is_unsaved_[gpu.index] = 0;
  return std::exchange(unsaved_gpus_, {});
}

void SliceTable::mark_changed(GpuId gpu) {
  if (std::exchange(is_unsaved_[gpu.index], 1) == 0) unsaved_gpus_.push_back(gpu);
}

void SliceTable::touch(GpuId gpu) {
  changed_gpus_.push_back(gpu);
  mark_changed(gpu);
}

TrackedSlice& SliceTable::change(SliceIndex index) {
  TrackedSlice& slice = places_.at(index);
  touch(slice.slice.gpu);
  return slice;
}

void SliceTable::release(SliceIndex index) {
  touch(at(index).slice.gpu);
  places_.release(index);
}

// ---- records

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

void SliceTable::journal_point(const TrackedSlice& slice, Instant now) const {
  if (journal_) journal_(PointRecord{.at = now, .slice = slice.holding.slice, .point = slice.point});
}

// ---- services

std::vector<SliceIndex> SliceTable::up_slices_of(ServiceId service) const {
  std::vector<SliceIndex> up;
  for (std::uint32_t index = 0; index < places_.all().size(); ++index) {
    const TrackedSlice& slice = at({index});
    if (slice.phase != SlicePhase::kUp) continue;
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
  for (TrackedSlice& slice : places_.all()) {
    forget(slice.holding, slice.point);
    if (slice.next) forget(slice.next->holding, slice.next->point);
  }
}

void SliceTable::set_can_serve(SliceIndex slice, bool can_serve, Instant now) {
  account(now);
  change(slice).can_serve = can_serve;
}

// ---- sums over time

void SliceTable::count_change(const TrackedSlice& slice, Instant now) {
  if (now == Instant()) return;
  sums_.count_change(slice.holding.services);
}

void SliceTable::account(Instant now) {
  if (now == sums_.reached()) return;
  std::sort(changed_gpus_.begin(), changed_gpus_.end());
  changed_gpus_.erase(std::unique(changed_gpus_.begin(), changed_gpus_.end()), changed_gpus_.end());
  for (const GpuId gpu : changed_gpus_) sums_.set_gpu(gpu, held_on(gpu));
  changed_gpus_.clear();
  sums_.advance(now);
}

HeldGpu SliceTable::held_on(GpuId gpu) const {
  HeldGpu held{.has_slices = !places_.existing(gpu).empty(), .parts = {}};
  for (const auto& [start, index] : places_.existing(gpu)) {
    const TrackedSlice& slice = at(index);
    const std::vector<ServiceId>& holders = slice.holding.services;
    if (slice.is_foreign) held.foreign_sms += slice.sms;
    // A slice that retrains, or waits for the next retraining, is not lost; while it changes to or from that role it
    // is.
    const bool is_up = slice.phase == SlicePhase::kUp;
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

}  // namespace berth::world
