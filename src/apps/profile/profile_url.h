/// Measures a model behind a URL, with requests of the Open Inference Protocol.
#pragma once

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/profile_run.h"
#include "surface/cli/profile/profile_outside.h"

namespace berth::profiler {

/// As a client sees it: latency includes the way there and back. Each connection has one request at a time; tensors
/// travel as binary data where the server offers that. All of the run but its id, version and start. Errors: as
/// ProfileOutside::measure.
[[nodiscard]] Result<ProfileRun> profile_url(const FileTree& tree, const models::ProfileRequest& request,
                                             const cli::ProfileHooks& hooks);

}  // namespace berth::profiler
