/// `berth replay`: runs a scenario through policies, and writes the requested outputs.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/replay/replay_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Reads the scenario, runs the policies, writes the journal and the report, and returns the text for stdout. Outputs
/// are temporary files, which are renamed when everything has succeeded, so that an error or an interrupt leaves the
/// existing ones unchanged. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_replay(const ReplayRequest& request, const VerbContext& context);

}  // namespace berth::cli
