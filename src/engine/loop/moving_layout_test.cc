#include "engine/loop/moving_layout.h"

#include <gtest/gtest.h>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

const Slice first_slice = slice_at(0, "1g.10gb", 0);
const Slice large_slice = slice_at(0, "3g.40gb", 4);
const Slice other_slice = slice_at(1, "2g.20gb", 0);

StandingSlice standing_ready(Holding holding) {
  return {.holding = std::move(holding), .point = std::nullopt, .is_ready = true, .is_leaving = false};
}

Snapshot snapshot_of(std::vector<StandingSlice> slices) {
  Snapshot snapshot;
  snapshot.slices = std::move(slices);
  snapshot.services.resize(2);
  snapshot.now = Instant::at_second(10);
  return snapshot;
}

partition::Target target_of(std::vector<partition::Wanted> holdings) {
  partition::Target target;
  target.holdings = std::move(holdings);
  return target;
}

TEST(ActionsTowards, DestroysThenCreatesThenAssigns) {
  const Snapshot snapshot =
      snapshot_of({standing_ready(held(first_slice, {{0}})), standing_ready(held(large_slice, {{1}}))});
  const std::vector<Action> actions = actions_towards(
      snapshot, target_of({{.holding = held(large_slice, {{0}})}, {.holding = held(other_slice, {{1}})}}));
  EXPECT_EQ(actions, (std::vector{destroy(first_slice), create(other_slice), give(held(large_slice, {{0}})),
                                  give(held(other_slice, {{1}}))}));
}

TEST(ActionsTowards, WhatStandsAsWantedIsNotTouched) {
  const Snapshot snapshot =
      snapshot_of({standing_ready(held(first_slice, {{0}})), standing_ready(held(large_slice, {}))});
  EXPECT_TRUE(
      actions_towards(snapshot, target_of({{.holding = held(first_slice, {{0}})}, {.holding = held(large_slice, {})}}))
          .empty());
}

TEST(ActionsTowards, ARoleAPointOrNobodyIsAnAssignment) {
  const Snapshot snapshot =
      snapshot_of({standing_ready(held(first_slice, {{0}})), standing_ready(held(large_slice, {{1}}))});
  const PointChoice point{.variant = 1, .batch = 4, .processes = 2};
  const std::vector<Action> actions =
      actions_towards(snapshot, target_of({{.holding = held(first_slice, {{0}}, Role::kRetraining)},
                                           {.holding = held(large_slice, {{1}}), .point = point}}));
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(actions[0], give(held(first_slice, {{0}}, Role::kRetraining)));
  EXPECT_EQ(std::get<AssignSlice>(actions[1].what).point, point);
  EXPECT_EQ(
      actions_towards(snapshot, target_of({{.holding = held(first_slice, {{0}})}, {.holding = held(large_slice, {})}})),
      (std::vector{give(held(large_slice, {}))}));
}

TEST(ActionsTowards, ANewSliceOfNobodyIsOnlyCut) {
  EXPECT_EQ(actions_towards(snapshot_of({}), target_of({{.holding = held(first_slice, {})}})),
            (std::vector{create(first_slice)}));
}

TEST(ActionsTowards, WhatIsLeavingIsLeftAloneAndItsPlaceCutAnew) {
  StandingSlice leaving = standing_ready(held(first_slice, {{0}}));
  leaving.is_leaving = true;
  const Snapshot snapshot = snapshot_of({leaving});
  EXPECT_TRUE(actions_towards(snapshot, target_of({})).empty());
  EXPECT_EQ(actions_towards(snapshot, target_of({{.holding = held(first_slice, {{1}})}})),
            (std::vector{create(first_slice), give(held(first_slice, {{1}}))}));
}

TEST(ActionsTowards, EachActionHasTheReason) {
  partition::Target target = target_of({{.holding = held(first_slice, {{0}})}});
  target.reason = {.text = "why", .numbers = {{"gain", 1.5}}};
  for (const Action& action : actions_towards(snapshot_of({}), target)) EXPECT_EQ(action.reason, target.reason);
}

// ---- the stage

/// A stage that counts how often it was asked, and gives the answer that is set.
struct Asked {
  int count = 0;
  partition::Decision answer;
  std::vector<double> progress;

  Stage stage(const Scenario& scenario) {
    return moving_layout_stage(scenario, "moves", {.decide = [this](const partition::Sight& sight) {
                                 ++count;
                                 progress.assign(sight.retraining_progress.begin(), sight.retraining_progress.end());
                                 return answer;
                               }});
  }
};

TEST(MovingLayoutStage, TurnsTheTargetIntoAPlanWithItsObjective) {
  const Scenario scenario = two_gpus();
  Asked asked;
  partition::Target target = target_of({{.holding = held(first_slice, {{0}})}});
  target.objective = 0.5;
  target.bound = 0.75;
  asked.answer = target;
  const Stage stage = asked.stage(scenario);
  EXPECT_EQ(stage.name, "moves");
  Plan plan;
  EXPECT_FALSE(testing::decide(stage, snapshot_of({}), plan).has_value());
  EXPECT_EQ(plan.actions.size(), 2U);
  EXPECT_EQ(plan.objective, 0.5);
  EXPECT_EQ(plan.bound, 0.75);
}

TEST(MovingLayoutStage, StaysOrSaysWhyNoPlanCanExist) {
  const Scenario scenario = two_gpus();
  Asked asked;
  const Stage stage = asked.stage(scenario);
  Plan plan;
  EXPECT_FALSE(testing::decide(stage, snapshot_of({}), plan).has_value());
  EXPECT_TRUE(plan.actions.empty());
  asked.answer = partition::Infeasible{"too few"};
  EXPECT_EQ(testing::decide(stage, snapshot_of({}), plan), "too few");
}

TEST(MovingLayoutStage, IsNotAskedWhereNoChangeMayBeginButForTheFirstLayout) {
  Scenario scenario = two_gpus();
  scenario.planning = Micros::seconds(5);
  scenario.frozen = {{.from = Instant(), .until = Instant::at_second(8)},
                     {.from = Instant::at_second(15), .until = Instant::at_second(16)}};
  Asked asked;
  const Stage stage = asked.stage(scenario);
  Plan plan;
  Snapshot snapshot = snapshot_of({});
  snapshot.now = Instant();
  EXPECT_FALSE(testing::decide(stage, snapshot, plan).has_value());
  EXPECT_EQ(asked.count, 1) << "the first layout is always asked for";
  snapshot.slices = {standing_ready(held(first_slice, {{0}}))};
  for (const auto& [second, count] : {std::pair(2, 1), {3, 2}, {10, 2}, {11, 3}}) {
    snapshot.now = Instant::at_second(second);
    EXPECT_FALSE(testing::decide(stage, snapshot, plan).has_value());
    EXPECT_EQ(asked.count, count) << "at second " << second << " a plan acts 5 s later";
  }
}

TEST(MovingLayoutStage, ReportsTheProgressOfRetrainings) {
  Scenario scenario = two_gpus();
  scenario.services[0].retraining = Retraining{.every = Micros::seconds(100),
                                               .offset = Micros::seconds(10),
                                               .swap = Micros(),
                                               .time_on = {{1, Micros::seconds(40)}}};
  Asked asked;
  const Stage stage = asked.stage(scenario);
  Plan plan;
  Snapshot snapshot = snapshot_of({standing_ready(held(first_slice, {{0}}, Role::kRetraining))});
  snapshot.services[0].is_retraining_due = true;
  EXPECT_FALSE(testing::decide(stage, snapshot, plan).has_value());
  snapshot.now = Instant::at_second(20);
  EXPECT_FALSE(testing::decide(stage, snapshot, plan).has_value());
  EXPECT_EQ(asked.progress, (std::vector{0.25, 0.0}));
}

}  // namespace
}  // namespace berth
