/// The transition from a standing plan to a new one, as JSON.
#pragma once

#include "base/json/writer.h"
#include "domain/values/packing.h"
#include "planner/transition/transition.h"

namespace berth::transition {

/// One JSON object; its keys: docs/reference/packing.md. GPUs are numbered as in `gpus`, which gives the role of each
/// in the old and the new plan.
void write_transition(json::Writer& json, const PackingProblem& problem, const Transition& transition);

}  // namespace berth::transition
