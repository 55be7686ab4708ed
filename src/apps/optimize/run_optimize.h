/// `berth optimize` with real files, processes and a clock.
#pragma once

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "models/optimize/manifest.h"
#include "surface/cli/optimize/optimize_outside.h"

namespace berth::optimizer {

/// Writes the folder of the request, whole or not at all. Errors: as OptimizeOutside::optimize.
[[nodiscard]] Result<models::Manifest> run_optimize(const FileTree& tree, const models::OptimizeRequest& request,
                                                    const cli::OptimizeHooks& hooks);

}  // namespace berth::optimizer
