/// `berth profile list`: every model and where it was profiled, and what has drifted.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/profile/book_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Errors: as of read_profile_book.
[[nodiscard]] Result<std::string> run_list_profiles(const ListProfilesRequest& request, const VerbContext& context);

}  // namespace berth::cli
