/// A packing read as the existing plan, from which a transition begins.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/values/packing.h"
#include "planner/transition/transition.h"

namespace berth::transition {

/// Reads a plan as plan_file.h does. GPU models of the plan that the problem does not offer are added to its offers,
/// with a count of 0: they may only be released. Requires: the problem has an offer. Errors name `file` and the
/// position.
[[nodiscard]] Result<transition::StandingPlan> parse_standing_plan(std::string_view text, const std::string& file,
                                                                   PackingProblem& problem);

}  // namespace berth::transition
