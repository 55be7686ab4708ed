/// Runs `berth up` until it is told to stop.
#pragma once

#include "surface/cli/shared/verb.h"
#include "surface/cli/up/stated_request.h"

namespace berth::cli {

/// The exit status. Prints one line on `out` when it answers requests; all else goes to `err` as JSON lines, except the
/// message with which it fails to begin. `typed`: the flags, to read the configuration file again.
[[nodiscard]] int run_up(const UpOptions& typed, const StatedRequest& stated, VerbContext& context);

}  // namespace berth::cli
