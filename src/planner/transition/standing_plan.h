/// A packing read as the plan that stands, from which a transition begins.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/values/packing.h"
#include "planner/transition/transition.h"

namespace berth::transition {

/// Reads a plan as packing_file.h does. GPU models of the plan that the problem does not offer are added to its offers,
/// with a count of 0: they may only be released. Requires: the problem has an offer. Errors name `file` and the place.
[[nodiscard]] Result<transition::StandingPlan> parse_standing_plan(std::string_view text, const std::string& file,
                                                                   PackingProblem& problem);

}  // namespace berth::transition
