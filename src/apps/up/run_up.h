/// Runs `berth up` until it is asked to stop.
#pragma once

#include "apps/up/up_outside.h"
#include "live/folder/up_request.h"

namespace berth::up {

/// The exit status. Prints one line on `outside.out` when it answers requests; all else goes to `outside.err` as JSON
/// lines, except the message with which it fails to begin, which `outside.report_failure` prints. Does not return while
/// a plan is searched for or a driver hangs: then it ends the process.
[[nodiscard]] int run_up(const live::UpRequest& request, const UpOutside& outside);

}  // namespace berth::up
