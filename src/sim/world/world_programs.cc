/// World: programs on slices, which another process runs.
#include "base/core/ensure.h"
#include "sim/world/world.h"

namespace berth::sim {

bool World::adopt(const Slice& slice, ServiceId service, std::uint64_t number, Instant now) {
  ENSURE(now == now_ && !is_lost(slice.gpu));
  serving_.catch_up(now.micros());
  const bool is_adopted = slices_.adopt(slice, service, number, now);
  settle_effects(now);
  serving_.take_all(now.micros());
  return is_adopted;
}

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

void World::program_failed(const Slice& slice, std::uint64_t generation, const std::string& why, Instant now) {
  ENSURE(now == now_);
  serving_.catch_up(now.micros());
  slices_.program_failed(slice, generation, why, now);
  settle_effects(now);
  slices_.forget_lost();
  serving_.take_all(now.micros());
}

}  // namespace berth::sim
