/// The way from a standing plan to a new one, for people.
#pragma once

#include <string>
#include <string_view>

#include "domain/packing.h"
#include "transition/transition.h"

namespace berth::cli {

/// "create", "destroy", "retune".
[[nodiscard]] std::string_view step_word(transition::StepKind kind);

/// Whose slice a step is about: a demand of the problem, or one that is gone.
[[nodiscard]] const Demand& demand_of_step(const PackingProblem& problem, const transition::Transition& transition,
                                           const transition::TransitionStep& step);

/// What changes, what is proven of it, the GPUs that come and go, and the steps in order.
[[nodiscard]] std::string transition_table(const PackingProblem& problem, const transition::Transition& transition);

}  // namespace berth::cli
