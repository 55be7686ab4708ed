/// One slice, as the table of slices knows it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/slice.h"
#include "world/slices/slice_phase.h"

namespace berth::world {

struct TrackedSlice {
  Slice slice;
  SlicePhase phase = SlicePhase::kWaitingForRoom;
  Holding holding;  ///< its current holders (while draining: the previous ones)
  std::optional<PointChoice> point;
  std::optional<AssignSlice> next;  ///< the assignment after the drain
  std::uint64_t created_as = 0;     ///< Action::number of its creation, reported when it is gone
  std::uint64_t assigned_as = 0;    ///< that of its latest assignment (else its creation), reported when it is ready
  bool is_unwanted = false;         ///< to be destroyed after the drain
  bool is_foreign = false;          ///< created by another program
  bool will_time_out = false;       ///< ActionTime::times_out of its creation or destruction
  bool was_ordered = false;         ///< SliceMemory::was_ordered
  std::uint64_t sequence = 0;       ///< orders slices by creation
  std::uint64_t generation = 0;     ///< timers of older generations have no effect; never reset, as an index is reused
  bool has_program = false;         ///< SliceMemory::has_program
  bool is_idle = false;             ///< draining: only its program keeps it
  int sms = 0;
  bool can_serve = true;                    ///< it has a replica of each holder (set by the world after kStart)
  Instant continues_at = Instant::never();  ///< when its latest timer is over
};

/// Whether its creation or destruction is under way.
[[nodiscard]] inline bool is_changing(const TrackedSlice& slice) {
  return slice.phase == SlicePhase::kCreating || slice.phase == SlicePhase::kDestroying;
}

}  // namespace berth::world
