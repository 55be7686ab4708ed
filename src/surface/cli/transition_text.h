/// The transition from a standing plan to a new one, as a table.
#pragma once

#include <string>
#include <string_view>

#include "domain/packing.h"
#include "transition/transition.h"

namespace berth::cli {

/// "create", "destroy", "retune".
[[nodiscard]] std::string_view step_word(transition::StepKind kind);

/// The demand of a step's slice: one of the problem, or one of the old plan that the problem no longer has.
[[nodiscard]] const Demand& demand_of_step(const PackingProblem& problem, const transition::Transition& transition,
                                           const transition::TransitionStep& step);

/// The changes and how far they are proven minimal, the GPUs added and released, and the steps in order.
[[nodiscard]] std::string transition_table(const PackingProblem& problem, const transition::Transition& transition);

}  // namespace berth::cli
