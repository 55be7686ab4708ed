#include "planner/transition/plan.h"

#include <gtest/gtest.h>

#include <variant>

#include "base/core/duration.h"

namespace berth::transition {
namespace {

PackedSlice packed(std::uint32_t gpu, int start, std::uint32_t demand, int batch) {
  return {.slice = {.gpu = {gpu}, .start = start, .profile = {1}},
          .demand = demand,
          .batch = batch,
          .processes = 2,
          .requests_per_second = Decimal(10)};
}

TEST(ToPlan, StepsBecomeActionsInTheirOrder) {
  Transition transition;
  transition.steps = {{.kind = StepKind::kCreate, .slice = packed(1, 4, 0, 8)},
                      {.kind = StepKind::kDestroy, .slice = packed(0, 0, 2, 1)},
                      {.kind = StepKind::kRetune, .slice = packed(0, 2, 1, 16)}};
  const Plan plan = to_plan(transition, Instant() + Micros::seconds(5));
  EXPECT_EQ(plan.made_at, Instant() + Micros::seconds(5));
  ASSERT_EQ(plan.actions.size(), 4U);
  EXPECT_EQ(std::get<CreateSlice>(plan.actions[0].what).slice, transition.steps[0].slice.slice);
  const auto& given = std::get<AssignSlice>(plan.actions[1].what);
  EXPECT_EQ(given.holding.slice, transition.steps[0].slice.slice);
  EXPECT_EQ(given.holding.services, std::vector<ServiceId>{{0}});
  EXPECT_EQ(given.point, (PointChoice{.variant = 0, .batch = 8, .processes = 2}));
  EXPECT_EQ(std::get<DestroySlice>(plan.actions[2].what).slice, transition.steps[1].slice.slice);
  EXPECT_EQ(std::get<AssignSlice>(plan.actions[3].what).point,
            (PointChoice{.variant = 0, .batch = 16, .processes = 2}));
}

TEST(ToPlan, NoStepsAreAnEmptyPlan) { EXPECT_TRUE(to_plan({}, Instant()).actions.empty()); }

}  // namespace
}  // namespace berth::transition
