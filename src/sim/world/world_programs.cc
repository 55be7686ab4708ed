/// World: programs on slices, which another process runs.
#include "base/core/ensure.h"
#include "sim/world/world.h"

namespace berth::sim {

void World::program_ready(const Slice& slice, std::uint64_t generation, Instant now) {
  ENSURE(now == now_);
  serving_.catch_up(now.micros());
  slices_.program_ready(slice, generation, now);
  settle_effects(now);
  serving_.take_all(now.micros());
}

void World::program_gone(const Slice& slice, std::uint64_t generation, Instant now) {
  ENSURE(now == now_);
  serving_.catch_up(now.micros());
  slices_.program_gone(slice, generation, now);
  settle_effects(now);
  serving_.take_all(now.micros());
}

}  // namespace berth::sim
