/// Combines the files of `berth pack` into a problem.
#pragma once

#include "base/core/result.h"
#include "base/core/warned.h"
#include "domain/ports/files.h"
#include "domain/values/packing.h"
#include "surface/cli/pack/pack_options.h"

namespace berth::cli {

/// Reads demand, fleet and profiles, in this order; the error is that of the first invalid file, or of a profile whose
/// rows state more than their batches give.
[[nodiscard]] Result<Warned<PackingProblem>> load_packing_problem(const PackRequest& request, const Files& files);

}  // namespace berth::cli
