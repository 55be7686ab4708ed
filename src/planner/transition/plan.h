/// The steps of a transition as a domain Plan, which state, journal and executors understand.
#pragma once

#include "domain/values/plan.h"
#include "planner/transition/transition.h"

namespace berth::transition {

/// The steps as actions, in their order: a created slice is created and assigned at its point, a destroyed one
/// destroyed, a retuned one assigned again at its new point. GPUs are numbered as in `Transition::gpus`; the service of
/// a slice is its demand's number, in the problem's demands followed by `Transition::gone`. The plan has no expectation
/// of answers: objective, bound and floors are empty.
[[nodiscard]] Plan to_plan(const Transition& transition, Instant made_at);

}  // namespace berth::transition
