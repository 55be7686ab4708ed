#include "engine/loop/counter_plan.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

#include "engine/loop/constraints.h"
#include "engine/loop/test_fleet.h"
#include "engine/loop/verify.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;
using testing::two_gpus;

std::vector<PlannedFloor> floors_of(double a, double b) {
  return {{.service = {0}, .needed = a, .planned = 0}, {.service = {1}, .needed = b, .planned = 0}};
}

Snapshot bare_snapshot() {
  Snapshot snapshot;
  snapshot.now = Instant::at_second(100);
  snapshot.services.resize(2);
  return snapshot;
}

TEST(CounterPlan, MeetsFloorsOnAnEmptyFleet) {
  const Scenario scenario = two_gpus();  // a GPU serves 700
  const Snapshot snapshot = bare_snapshot();
  EXPECT_TRUE(propose_counter_plan(scenario, snapshot, floors_of(0, 0)).actions.empty());
  EXPECT_TRUE(propose_counter_plan(scenario, snapshot, floors_of(700, 701)).actions.empty());
  for (const auto& [a, b] : {std::pair(700.0, 700.0), std::pair(300.0, 1000.0), std::pair(1.0, 1.0)}) {
    const Plan plan = propose_counter_plan(scenario, snapshot, floors_of(a, b));
    ASSERT_FALSE(plan.actions.empty()) << a << " and " << b;
    EXPECT_EQ(find_objection(scenario, snapshot, plan, snapshot.now), std::nullopt);
    EXPECT_EQ(find_breach(scenario, snapshot, plan, snapshot.now), std::nullopt);
  }
}

TEST(CounterPlan, LeavesGpusAloneOnWhichSomethingIsUnderWay) {
  const Scenario scenario = two_gpus();
  Snapshot snapshot = bare_snapshot();
  snapshot.slices = {{.holding = held(slice_at(0, "1g.10gb", 0), {{1}}), .is_ready = true},
                     {.holding = held(slice_at(1, "1g.10gb", 0), {{0}}), .is_ready = false}};
  const Plan plan = propose_counter_plan(scenario, snapshot, floors_of(100, 700));
  ASSERT_FALSE(plan.actions.empty());
  for (const Action& action : plan.actions) {
    const auto* create = std::get_if<CreateSlice>(&action.what);
    EXPECT_TRUE(create == nullptr || create->slice.gpu == GpuId{0});
  }
  EXPECT_TRUE(propose_counter_plan(scenario, snapshot, floors_of(101, 700)).actions.empty());
}

TEST(CounterPlan, LeavesGpusAloneOnWhichCreationsFailed) {
  const Scenario scenario = two_gpus();
  Snapshot snapshot = bare_snapshot();
  snapshot.gpus.resize(1);
  EXPECT_FALSE(propose_counter_plan(scenario, snapshot, floors_of(700, 700)).actions.empty());
  snapshot.gpus[0].failures.count = 1;
  EXPECT_TRUE(propose_counter_plan(scenario, snapshot, floors_of(700, 700)).actions.empty());
  const Plan plan = propose_counter_plan(scenario, snapshot, floors_of(700, 0));
  ASSERT_FALSE(plan.actions.empty());
  for (const Action& action : plan.actions) EXPECT_EQ(slice_of(action.what).gpu, GpuId{1});
}

}  // namespace
}  // namespace berth
