/// `berth profile import`: files of profiles as runs of the database, all of them or none.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/profile/book_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Errors: of the files; two files with a point of the same model and slice; of the database.
[[nodiscard]] Result<std::string> run_import_profiles(const ImportProfilesRequest& request, const VerbContext& context);

}  // namespace berth::cli
