/// The engine of a session, for tests that replace it.
#pragma once

#include "live/session/session.h"
#include "sim/world/testing/engine_renewal.h"

namespace berth::live::testing {

class SessionEngine {
 public:
  /// Restores the engine from the bytes of its memory. Returns whether it has one now.
  static bool restore(Session& session) {
    if (!sim::testing::has_engine_memory(*session.loop_)) return false;
    sim::testing::restore_engine(*session.loop_);
    return true;
  }
};

}  // namespace berth::live::testing
