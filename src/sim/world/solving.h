/// Which component solves the engine's questions, and whether the world waits.
#pragma once

#include <cstdint>

namespace berth::sim {

enum class Solving : std::uint8_t {
  kAtOnce,            ///< the loop itself: the answer is known at once, and delivered when it is due, as in a replay
  kElsewhere,         ///< another thread; the world continues meanwhile
  kElsewhereWaiting,  ///< another thread; the world waits, so answers take effect when they do in a replay
};

}  // namespace berth::sim
