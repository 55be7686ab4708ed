/// Runs `berth up` until it is stopped.
#pragma once

#include "apps/up/up_outside.h"
#include "live/folder/up_request.h"

namespace berth::up {

/// Returns the exit status. Prints one line on `outside.out` when it answers requests; everything else goes to
/// `outside.err` as JSON lines, except the reason why it cannot start, which `outside.report_failure` prints. If a
/// solver still searches or a driver hangs, it ends the process instead of returning.
[[nodiscard]] int run_up(const live::UpRequest& request, const UpOutside& outside);

}  // namespace berth::up
