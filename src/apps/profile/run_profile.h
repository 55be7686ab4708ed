/// `berth profile` with real processes, servers and clocks.
#pragma once

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/profile_run.h"
#include "surface/cli/profile/profile_outside.h"

namespace berth::profiler {

/// Measures what the request names. Errors: as ProfileOutside::measure.
[[nodiscard]] Result<ProfileRun> run_profile(const FileTree& tree, const models::ProfileRequest& request,
                                             const cli::ProfileHooks& hooks);

}  // namespace berth::profiler
