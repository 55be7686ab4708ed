/// `berth optimize verify` with real files, processes and a clock.
#pragma once

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "models/optimize/verification.h"
#include "surface/cli/optimize/optimize_outside.h"

namespace berth::optimizer {

/// Sums first; where the original or the data are others, nothing is measured. Variants that were written are measured
/// if they are those of the manifest. Errors: as OptimizeOutside::verify.
[[nodiscard]] Result<models::Verification> run_verify(const FileTree& tree, const models::VerifyRequest& request,
                                                      const cli::OptimizeHooks& hooks);

}  // namespace berth::optimizer
