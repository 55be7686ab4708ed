#include "planner/transition/plan.h"

namespace berth::transition {
namespace {

Action assignment(const PackedSlice& packed) {
  return {
      .what = AssignSlice{.holding = {.slice = packed.slice, .role = Role::kInference, .services = {{packed.demand}}},
                          .point = PointChoice{.variant = 0, .batch = packed.batch, .processes = packed.processes}},
      .reason = {}};
}

void add_actions(const TransitionStep& step, std::vector<Action>& actions) {
  switch (step.kind) {
    case StepKind::kCreate:
      actions.push_back({.what = CreateSlice{step.slice.slice}, .reason = {}});
      actions.push_back(assignment(step.slice));
      return;
    case StepKind::kDestroy:
      actions.push_back({.what = DestroySlice{step.slice.slice}, .reason = {}});
      return;
    case StepKind::kRetune:
      actions.push_back(assignment(step.slice));
      return;
  }
}

}  // namespace

Plan to_plan(const Transition& transition, Instant made_at) {
  Plan plan;
  plan.made_at = made_at;
  for (const TransitionStep& step : transition.steps) add_actions(step, plan.actions);
  return plan;
}

}  // namespace berth::transition
