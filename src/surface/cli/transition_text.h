/// The way from a standing plan to a new one, for people.
#pragma once

#include <string>
#include <string_view>

#include "capacity/transition.h"
#include "domain/packing.h"

namespace berth::cli {

/// "create", "destroy", "retune".
[[nodiscard]] std::string_view step_word(capacity::StepKind kind);

/// Whose slice a step is about: a demand of the problem, or one that is gone.
[[nodiscard]] const Demand& demand_of_step(const PackingProblem& problem, const capacity::Transition& transition,
                                           const capacity::Step& step);

/// What changes, what is proven of it, the GPUs that come and go, and the steps in order.
[[nodiscard]] std::string transition_table(const PackingProblem& problem, const capacity::Transition& transition);

}  // namespace berth::cli
