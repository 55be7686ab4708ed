/// The end of a running `berth up`.
#pragma once

#include "base/core/result.h"

namespace berth::up {

struct UpParts;

/// Logs that a signal ends it; returns the exit status.
[[nodiscard]] int status_of(UpParts& parts, int signal);

/// Stops everything except the solver, saves the world unless a plan is being searched for, and keeps the journal of
/// the run. Returns `status`. Requires: begin_world.
[[nodiscard]] Result<int> stop_world(UpParts& parts, int status);

}  // namespace berth::up
