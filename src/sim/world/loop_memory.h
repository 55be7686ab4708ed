/// What a loop remembers between two steps. The world has a memory of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "engine/loop/engine_memory.h"

namespace berth::sim {

/// Plans that the verifiers refused: none of their actions took effect.
struct Refusals {
  std::int64_t count = 0;
  std::string first;  ///< the verifier's words, with the time; empty if there was none
};

struct LoopMemory {
  Instant now;
  EngineMemory engine;
  std::uint64_t order_count = 0;
  std::vector<std::int64_t> seen_until;  ///< by ServiceId: the last second that the engine saw; -1: none
  Refusals refusals;
};

}  // namespace berth::sim
