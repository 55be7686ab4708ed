/// `berth profile export`: the points in force as a csv that `pack`, `replay` and `plan` read.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/profile/book_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Returns the csv, or the path of the file that was written. That ends in `.cpu.csv` where rows were measured on
/// something else than the GPU that they name.
[[nodiscard]] Result<std::string> run_export_profiles(const ExportProfilesRequest& request, const VerbContext& context);

}  // namespace berth::cli
