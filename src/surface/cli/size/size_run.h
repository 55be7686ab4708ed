/// `berth size`: the number of GPUs that a scenario needs under each policy.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"
#include "surface/cli/size/size_options.h"

namespace berth::cli {

/// Reads the scenario, sizes it for each policy, writes the report, and returns the text for stdout. An error or an
/// interrupt leaves the outputs unchanged. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_size(const SizeRequest& request, const VerbContext& context);

}  // namespace berth::cli
