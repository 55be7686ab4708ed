/// `berth profile observe`: adds what a running `berth serve` counted of its batches.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/profile/book_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Errors: kInvalidInput: the server answers with an error or with something else than a report; kNoServer, kTimedOut;
/// of the database. Nothing is written then.
[[nodiscard]] Result<std::string> run_observe_profiles(const ObserveProfilesRequest& request,
                                                       const VerbContext& context);

}  // namespace berth::cli
