/// The end of a running `berth up`.
#pragma once

#include "base/core/result.h"

namespace berth::up {

struct UpParts;

/// Says that a signal ends it; returns the exit status.
[[nodiscard]] int status_of(UpParts& parts, int signal);

/// Ends all but the solver, saves the world if no plan is searched for, and keeps the journal of the run. Returns
/// `status`. Requires: begin_world.
[[nodiscard]] Result<int> stop_world(UpParts& parts, int status);

}  // namespace berth::up
