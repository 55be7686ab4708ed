#include "engine/loop/drain_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::destroy;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

const Slice kDrained = slice_at(0, "3g.40gb", 0);
const Slice kElsewhere = slice_at(1, "3g.40gb", 0);

/// GPU 0 with a slice of service 0 drains since second 10; service 0 has a slice on GPU 1, too.
struct Draining {
  Scenario scenario = two_gpus();
  Snapshot snapshot;

  Draining() {
    snapshot.services.resize(2);
    snapshot.now = Instant::at_second(10);
    snapshot.slices = {{.holding = held(kDrained, {{0}}), .is_ready = true},
                       {.holding = held(kElsewhere, {{0}}), .is_ready = true}};
    GpuState& drained = snapshot.gpus.emplace_back();
    drained.scheduling = GpuScheduling::kDraining;
    drained.scheduling_since = Instant::at_second(10);
    drained.scheduling_reason = "fans";
  }
  [[nodiscard]] std::vector<Action> asked(const Stage& stage) const {
    Plan plan;
    EXPECT_EQ(testing::decide(stage, snapshot, plan), std::nullopt);
    EXPECT_EQ(plan.is_ordered, !plan.actions.empty());
    return plan.actions;
  }
};

TEST(DrainStage, WithoutAPlannerItDestroysAtOnce) {
  const Draining world;
  const auto actions = world.asked(drain_stage(world.scenario, false));
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].what, destroy(kDrained).what);
  EXPECT_EQ(actions[0].reason.text, "the GPU is drained: fans");
}

TEST(DrainStage, WaitsForAPlanAndForWhatIsOnItsWay) {
  Draining world;
  const Stage stage = drain_stage(world.scenario, true);
  EXPECT_TRUE(world.asked(stage).empty());
  Solution planned;
  planned.plan.made_at = Instant::at_second(9);  // before the drain
  stage.learn(planned);
  EXPECT_TRUE(world.asked(stage).empty());
  planned.plan.made_at = Instant::at_second(12);
  stage.learn(planned);
  world.snapshot.slices.change(1).is_ready = false;
  EXPECT_TRUE(world.asked(stage).empty());
  world.snapshot.slices.change(1).is_ready = true;
  stage.learn(planned);  // being asked, it learned its own empty plan, made at second 0
  EXPECT_EQ(world.asked(stage).size(), 1U);
}

TEST(DrainStage, WhereNothingElseServesThePlanKnowsWhatFailed) {
  Draining world;
  world.snapshot.gpus.emplace_back();
  const Stage stage = drain_stage(world.scenario, true);
  Solution planned;
  const auto asked_after_plan_at = [&](int second) {
    planned.plan.made_at = Instant::at_second(second);
    stage.learn(planned);
    return world.asked(stage).size();
  };
  world.snapshot.now = Instant::at_second(30);
  world.snapshot.gpus[1].failures = {.count = 1, .latest = Instant::at_second(20)};
  EXPECT_EQ(asked_after_plan_at(12), 1U) << "service 0 has a slice on GPU 1";
  world.snapshot.slices = {{.holding = held(kDrained, {{0}}), .is_ready = true}};
  EXPECT_EQ(asked_after_plan_at(12), 1U) << "its requests are simulated";
  world.scenario.services[0].running.program.emplace();
  EXPECT_EQ(asked_after_plan_at(12), 0U) << "the slice that was to follow could not be created";
  EXPECT_EQ(asked_after_plan_at(20), 1U);
  world.snapshot.gpus[1].scheduling_since = Instant::at_second(25);
  EXPECT_EQ(asked_after_plan_at(20), 0U) << "GPU 1 was closed until then";
  EXPECT_EQ(asked_after_plan_at(25), 1U);
  world.snapshot.gpus[1].scheduling_since = Instant::at_second(65);
  world.snapshot.now = Instant::at_second(70);
  EXPECT_EQ(asked_after_plan_at(25), 1U) << "no longer than a minute";
}

TEST(DrainStage, WaitsNoLongerThanAMinute) {
  Draining world;
  world.snapshot.slices.change(1).is_ready = false;
  const Stage stage = drain_stage(world.scenario, true);
  world.snapshot.now = Instant::at_second(69);
  EXPECT_TRUE(world.asked(stage).empty());
  world.snapshot.now = Instant::at_second(70);
  EXPECT_EQ(world.asked(stage).size(), 1U);
}

TEST(DrainStage, WaitsAfterDestructionsThatFailed) {
  Draining world;
  const Stage stage = drain_stage(world.scenario, false);
  world.snapshot.gpus[0].failures = {.count = 4, .latest = Instant::at_second(20)};
  world.snapshot.now = Instant::at_second(28) - Micros(1);
  EXPECT_TRUE(world.asked(stage).empty());
  world.snapshot.now = Instant::at_second(28);
  EXPECT_EQ(world.asked(stage).size(), 1U);
}

TEST(DrainStage, RespectsFrozenWindowsAndLeavesOtherGpusAlone) {
  Draining world;
  world.scenario.frozen = {{.from = Instant(), .until = Instant::at_second(100)}};
  world.snapshot.now = Instant::at_second(99);
  const Stage stage = drain_stage(world.scenario, false);
  EXPECT_TRUE(world.asked(stage).empty());
  world.snapshot.now = Instant::at_second(100);
  EXPECT_EQ(world.asked(stage).size(), 1U);
  world.snapshot.gpus[0].scheduling = GpuScheduling::kCordoned;
  EXPECT_TRUE(world.asked(stage).empty());
}

}  // namespace
}  // namespace berth
