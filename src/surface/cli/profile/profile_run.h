/// `berth profile`: measures, and adds the run to the database.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/profile/profile_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. The database is opened first, so that a bad one is found at once, and gets the run at the very
/// end. Errors: those of the database and of measuring; kInterrupted.
[[nodiscard]] Result<std::string> run_profile_model(const CheckedProfile& checked, const VerbContext& context);

}  // namespace berth::cli
