/// The transition from a standing plan to a new one, as a table.
#pragma once

#include <string>
#include <string_view>

#include "capacity/transition.h"
#include "domain/packing.h"

namespace berth::cli {

/// "create", "destroy", "retune".
[[nodiscard]] std::string_view step_word(capacity::StepKind kind);

/// The demand of a step's slice: one of the problem, or one of the old plan that the problem no longer has.
[[nodiscard]] const Demand& demand_of_step(const PackingProblem& problem, const capacity::Transition& transition,
                                           const capacity::Step& step);

/// The changes and how far they are proven minimal, the GPUs added and released, and the steps in order.
[[nodiscard]] std::string transition_table(const PackingProblem& problem, const capacity::Transition& transition);

}  // namespace berth::cli
