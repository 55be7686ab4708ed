/// Who solves the questions of the engine, and whether the world waits.
#pragma once

#include <cstdint>

namespace berth::sim {

enum class Solving : std::uint8_t {
  kAtOnce,            ///< the loop itself: the answer is known at once, and delivered when it is due, as in a replay
  kElsewhere,         ///< another thread: the world goes on meanwhile
  kElsewhereWaiting,  ///< another thread, and the world stands still: answers act when they do in a replay
};

}  // namespace berth::sim
