/// The transition from a standing plan to a new one, as a table.
#pragma once

#include <string>

#include "domain/values/packing.h"
#include "planner/transition/transition.h"

namespace berth::cli {

/// The changes and how far they are proven minimal, the GPUs added and released, and the steps in order.
[[nodiscard]] std::string transition_table(const PackingProblem& problem, const transition::Transition& transition);

}  // namespace berth::cli
