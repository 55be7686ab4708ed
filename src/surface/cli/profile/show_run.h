/// `berth profile show`: one model, where it was profiled, and each of its points; with --history also every run.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/profile/book_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Errors: as of read_profile_book; kNotFound: no such model.
[[nodiscard]] Result<std::string> run_show_profile(const ShowProfileRequest& request, const VerbContext& context);

}  // namespace berth::cli
