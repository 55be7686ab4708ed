/// The standing plan, for `berth pack --from`.
#pragma once

#include <string>

#include "base/result.h"
#include "domain/packing.h"
#include "ports/files.h"
#include "transition/transition.h"

namespace berth::cli {

/// Reads the plan from a file. GPU models of the plan that the problem does not offer are added to its offers with a
/// count of 0: they may only be released. Requires: the problem has an offer.
[[nodiscard]] Result<transition::StandingPlan> load_standing_plan(const std::string& path, const Files& files,
                                                                  PackingProblem& problem);

}  // namespace berth::cli
