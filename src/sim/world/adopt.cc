#include "sim/world/adopt.h"

#include <algorithm>
#include <set>

namespace berth::sim {
namespace {

/// Whether a slice needs nothing to stand.
bool is_on_its_way(SlicePhase phase) {
  return phase == SlicePhase::kWaitingForRoom || phase == SlicePhase::kCreating || phase == SlicePhase::kDestroying;
}

}  // namespace

namespace {

/// Whether a remembered slice is still there, or on its way.
bool goes_on(const SliceMemory& slice, bool stands, bool is_same_boot) {
  if (is_same_boot) return stands || is_on_its_way(slice.phase);
  if (slice.is_foreign) return stands;
  return slice.phase == SlicePhase::kWaitingForRoom || slice.phase == SlicePhase::kCreating;
}

}  // namespace

DeviceMemory adopt(const DeviceMemory& remembered, const std::vector<Slice>& standing, bool is_same_boot) {
  DeviceMemory memory{.is_lost = false, .known_number = remembered.known_number, .slices = {}};
  std::set<Slice> known;
  std::uint64_t next_order = 0;
  for (const SliceMemory& slice : remembered.slices) {
    next_order = std::max(next_order, slice.order + 1);
    const bool stands = std::ranges::binary_search(standing, slice.slice);
    if (!goes_on(slice, stands, is_same_boot)) continue;
    memory.slices.push_back(slice);
    if (!is_same_boot) memory.slices.back().was_ordered = false;
    if (slice.phase != SlicePhase::kWaitingForRoom) known.insert(slice.slice);
  }
  for (const Slice& slice : standing) {
    if (known.contains(slice)) continue;
    memory.slices.push_back(
        {.slice = slice, .phase = SlicePhase::kUp, .services = {}, .is_foreign = true, .order = next_order++});
  }
  return memory;
}

}  // namespace berth::sim
