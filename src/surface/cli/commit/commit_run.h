/// Runs `berth commit`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/commit/commit_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. The page of --report appears complete or not at all.
[[nodiscard]] Result<std::string> run_commit(const CommitRequest& request, const VerbContext& context);

}  // namespace berth::cli
