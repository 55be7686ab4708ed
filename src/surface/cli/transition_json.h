/// The way from a standing plan to a new one, for programs.
#pragma once

#include <string>

#include "domain/packing.h"
#include "transition/transition.h"

namespace berth::cli {

/// One JSON object; its keys: docs/packing.md. GPUs are numbered as in `gpus`, which says what each was and becomes.
[[nodiscard]] std::string transition_json(const PackingProblem& problem, const transition::Transition& transition);

}  // namespace berth::cli
