/// `berth replay`: runs a scenario through policies, and writes the requested outputs.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/replay/replay_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Reads the scenario, runs the policies, writes the journal and the report, and returns the text for stdout. Outputs
/// are temporary files until all has succeeded, and are then renamed, so an error or an interrupt leaves the existing
/// ones as they were. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_replay(const ReplayRequest& request, const VerbContext& context);

}  // namespace berth::cli
