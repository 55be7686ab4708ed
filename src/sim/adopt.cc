#include "sim/adopt.h"

#include <algorithm>
#include <set>

namespace berth::sim {
namespace {

/// Whether a slice needs nothing to stand.
bool is_on_its_way(SlicePhase phase) {
  return phase == SlicePhase::kWaitingForRoom || phase == SlicePhase::kCreating || phase == SlicePhase::kDestroying;
}

}  // namespace

DeviceMemory adopt(const DeviceMemory& remembered, const std::vector<Slice>& standing) {
  DeviceMemory memory{.is_lost = false, .known_number = remembered.known_number, .slices = {}};
  std::set<Slice> known;
  std::uint64_t next_order = 0;
  for (const SliceMemory& slice : remembered.slices) {
    next_order = std::max(next_order, slice.order + 1);
    const bool stands = std::ranges::binary_search(standing, slice.slice);
    if (!stands && !is_on_its_way(slice.phase)) continue;
    memory.slices.push_back(slice);
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
