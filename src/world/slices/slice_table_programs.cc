/// SliceTable: programs on slices, which another process runs.
#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "world/slices/slice_table.h"

namespace berth::world {

std::optional<ServiceId> SliceTable::program_holder(const Holding& holding) const {
  if (!driver_.has_programs() || holding.role != Role::kInference) return std::nullopt;
  for (const ServiceId service : holding.services) {
    if (driver_.runs(scenario_.services[service.index])) return service;
  }
  return std::nullopt;
}

void SliceTable::await_program(SliceIndex index) {
  TrackedSlice& slice = change(index);
  slice.has_program = true;
  slice.is_idle = false;
  ++slice.generation;  // earlier timers have no effect
  slice.continues_at = Instant::never();
}

void SliceTable::drain_start(SliceIndex index, Instant now) {
  TrackedSlice& slice = change(index);
  slice.phase = SlicePhase::kDraining;
  slice.is_idle = true;
  journal(SliceEvent::kDraining, index, now);
}

std::vector<ProgramSlice> SliceTable::program_slices() {
  std::vector<ProgramSlice> slices;
  if (!driver_.has_programs()) return slices;
  for (std::uint32_t gpu = 0; gpu < known_numbers_.size(); ++gpu) {
    for (const auto& [start, index] : places_.existing({gpu})) {
      const TrackedSlice& known = at(index);
      if (known.is_foreign || known.phase == SlicePhase::kDestroying) continue;
      const auto holder = program_holder(known.holding);
      if (known.phase == SlicePhase::kCreating && holder && !known.is_unwanted) {
        slices.push_back({.slice = known.slice, .generation = known.created_as, .service = *holder, .exists = false});
      }
      if (known.phase == SlicePhase::kCreating) continue;
      // A service that got `run` while its slice serves.
      if (holder && known.phase == SlicePhase::kUp && !known.has_program) change(index).has_program = true;
      if (!known.has_program) continue;
      slices.push_back(
          {.slice = known.slice,
           .generation = known.created_as,
           .service = holder.value_or(known.holding.services.empty() ? ServiceId{} : known.holding.services.front()),
           .is_leaving = known.phase == SlicePhase::kDraining || !holder,
           .is_ready = known.phase == SlicePhase::kUp,
           .point = known.point});
    }
  }
  return slices;
}

void SliceTable::program_ready(const Slice& slice, std::uint64_t generation, Instant now) {
  const auto index = places_.find_existing(slice);
  if (!index || at(*index).created_as != generation || !at(*index).has_program) return;
  if (at(*index).phase != SlicePhase::kStarting) return;
  account(now);
  up(*index, now);
}

void SliceTable::program_gone(const Slice& slice, std::uint64_t generation, Instant now) {
  const auto index = places_.find_existing(slice);
  if (!index || at(*index).created_as != generation || !at(*index).has_program) return;
  account(now);
  TrackedSlice& known = change(*index);
  known.has_program = false;
  if (!std::exchange(known.is_idle, false)) {
    // A service without `run` by now starts as any other.
    if (known.phase == SlicePhase::kStarting) begin_start(*index, now);
    return;
  }
  drained(*index, now);
  begin_waiting(now);
  report_observed(now);
}

void SliceTable::program_failed(const Slice& slice, std::uint64_t generation, const std::string& why, Instant now) {
  const auto index = places_.find_existing(slice);
  if (!index || at(*index).created_as != generation || !at(*index).has_program) return;
  const SlicePhase phase = at(*index).phase;
  const bool is_live = phase == SlicePhase::kStarting || phase == SlicePhase::kUp;
  if (at(*index).is_unwanted || !is_live) return;
  account(now);
  reports_.add_failed(at(*index), ActionKind::kCreation, why, now);
  change(*index).is_unwanted = true;
  if (phase == SlicePhase::kUp) {
    effects_.push_back({.kind = SliceEffect::Kind::kLose, .slice = *index});
  }
  drain_start(*index, now);
  report_observed(now);
}

}  // namespace berth::world
