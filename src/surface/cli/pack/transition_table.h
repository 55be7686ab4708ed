/// The transition from the present plan to a new one, as a table.
#pragma once

#include <string>

#include "domain/values/packing.h"
#include "planner/transition/transition.h"

namespace berth::cli {

/// The changes with the bound on their number, the GPUs added and released, and the steps in order.
[[nodiscard]] std::string transition_table(const PackingProblem& problem, const transition::Transition& transition);

}  // namespace berth::cli
