#include "world/slices/adopt.h"

#include <algorithm>
#include <set>

namespace berth::world {
namespace {

/// Whether a slice in this phase continues even if it does not exist on its device.
bool is_on_its_way(SlicePhase phase) {
  return phase == SlicePhase::kWaitingForRoom || phase == SlicePhase::kCreating || phase == SlicePhase::kDestroying;
}

/// Whether a remembered slice still exists, or its change continues.
bool continues(const SliceMemory& slice, bool exists, bool is_same_boot) {
  if (is_same_boot) return exists || is_on_its_way(slice.phase);
  if (slice.is_foreign) return exists;
  return slice.phase == SlicePhase::kWaitingForRoom || slice.phase == SlicePhase::kCreating;
}

}  // namespace

DeviceMemory adopt(const DeviceMemory& remembered, const std::vector<Slice>& existing, bool is_same_boot) {
  DeviceMemory memory{.is_lost = false, .known_number = remembered.known_number, .slices = {}};
  std::set<Slice> known;
  std::uint64_t next_order = 0;
  for (const SliceMemory& slice : remembered.slices) {
    next_order = std::max(next_order, slice.order + 1);
    const bool exists = std::ranges::binary_search(existing, slice.slice);
    if (!continues(slice, exists, is_same_boot)) continue;
    memory.slices.push_back(slice);
    if (!is_same_boot) memory.slices.back().was_ordered = false;
    if (slice.phase != SlicePhase::kWaitingForRoom) known.insert(slice.slice);
  }
  for (const Slice& slice : existing) {
    if (known.contains(slice)) continue;
    memory.slices.push_back(
        {.slice = slice, .phase = SlicePhase::kUp, .services = {}, .is_foreign = true, .order = next_order++});
  }
  return memory;
}

}  // namespace berth::world
