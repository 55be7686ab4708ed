#include "engine/loop/planned_floors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

/// Loads of 100 and 200 requests per second for 20 s. 1g serves 100 requests per second, 2g 200, 3g 300.
planner::Moment steady_moment(double a = 100, double b = 200) {
  planner::Moment moment;
  moment.slots = 20;
  moment.retraining.resize(2);
  for (const double load : {a, b}) {
    moment.outlooks.push_back(
        {.loads = std::vector<double>(21, load), .mean_rate = load, .changes_left = std::nullopt});
  }
  return moment;
}

Scenario with_floors(std::vector<Decimal> attainments) {
  Scenario scenario = two_gpus();
  for (std::size_t i = 0; i < attainments.size(); ++i) scenario.services[i].floor_attainment = attainments[i];
  return scenario;
}

Snapshot snapshot_with(const std::vector<Holding>& holdings) {
  Snapshot snapshot;
  snapshot.services.resize(2);
  for (const Holding& holding : holdings) {
    snapshot.slices.push_back({.holding = holding, .point = std::nullopt, .is_ready = true});
  }
  return snapshot;
}

TEST(PlannedFloors, ThoseWithAFloorAndWhatStandsAfterThePlan) {
  Scenario scenario = with_floors({});
  scenario.services[1].floor_attainment = Decimal(9, 10);
  const Slice small = slice_at(0, "1g.10gb", 0);
  const Slice gone = slice_at(0, "2g.20gb", 2);
  const Slice kept = slice_at(0, "1g.10gb", 1);
  const Slice late = slice_at(1, "3g.40gb", 0);
  const Slice retrains = slice_at(1, "3g.40gb", 4);
  Snapshot snapshot = snapshot_with({held(small, {{0}}), held(kept, {{1}}), held(gone, {{1}})});
  snapshot.slices.push_back({.holding = held(retrains, {{1}}, Role::kRetraining), .point = std::nullopt});
  snapshot.slices.push_back(
      {.holding = held(slice_at(0, "3g.40gb", 4), {{1}}), .point = std::nullopt, .is_ready = true, .is_leaving = true});
  Plan plan;
  plan.actions = {destroy(gone), create(late), give(held(late, {{1}}))};
  const auto floors = planned_floors(scenario, snapshot, steady_moment(), plan);
  ASSERT_EQ(floors.size(), 1U);
  EXPECT_EQ(floors[0].service, ServiceId{1});
  EXPECT_NEAR(floors[0].needed, 180, 1e-6);
  EXPECT_NEAR(floors[0].planned, 100 + 300, 1e-6);  // ready or not
  plan.actions.push_back(give(held(kept, {{0}})));
  EXPECT_NEAR(planned_floors(scenario, snapshot, steady_moment(), plan)[0].planned, 300, 1e-6);
}

TEST(PlannedFloors, AtThePointAskedForAndTheWorstInterference) {
  Scenario scenario = with_floors({Decimal(1)});
  scenario.services[0].table.points.push_back({.gpu = "A100-80GB",
                                               .profile = "1g.10gb",
                                               .batch = 1,
                                               .processes = 2,
                                               .requests_per_second = Decimal(125),
                                               .latency_ms = Decimal(16)});
  std::ranges::sort(scenario.services[0].table.points, {}, [](const PerformancePoint& point) {
    return std::tuple(point.gpu, point.profile, point.processes, point.batch);
  });
  scenario.interference = {Decimal(1), Decimal(5, 4), Decimal(11, 10)};
  const Slice slice = slice_at(0, "1g.10gb", 0);
  Snapshot snapshot = snapshot_with({held(slice, {{0}})});
  const auto planned = [&](const Plan& plan) {
    return planned_floors(scenario, snapshot, steady_moment(), plan).front().planned;
  };
  EXPECT_NEAR(planned({}), 125 / 1.25, 1e-6);
  snapshot.slices.change(0).point = PointChoice{.variant = 0, .batch = 1, .processes = 1};
  EXPECT_NEAR(planned({}), 100 / 1.25, 1e-6);
  Plan plan;
  plan.actions = {{.what = AssignSlice{.holding = held(slice, {{0}}),
                                       .point = PointChoice{.variant = 0, .batch = 1, .processes = 2}},
                   .reason = {}}};
  EXPECT_NEAR(planned(plan), 125 / 1.25, 1e-6);
}

// ---- conflicts of a moment

using Names = std::vector<std::string>;

/// The conflict's constraints; empty where all can be kept; "?" where it is not decided.
Names conflict_of(const Scenario& scenario, const planner::Moment& moment, std::int64_t nodes_max = 20'000) {
  const planner::Frame frame = planner::make_frame(scenario);
  const auto found =
      find_moment_conflict({.scenario = scenario, .frame = frame, .moment = moment, .nodes_max = nodes_max});
  if (std::holds_alternative<CanBeMet>(found)) return {};
  const auto* conflict = std::get_if<Conflict>(&found);
  if (conflict == nullptr) return {"?"};
  Names names;
  for (const ConstraintId& id : conflict->constraints) names.push_back(constraint_name(scenario, id));
  return names;
}

TEST(MomentConflict, NothingWhereAllCanBeKept) {
  Scenario scenario = with_floors({Decimal(1), Decimal(1)});
  EXPECT_EQ(conflict_of(scenario, steady_moment()), Names());
}

TEST(MomentConflict, TheFloorsThatDoNotFitTogether) {
  Scenario scenario = with_floors({Decimal(1), Decimal(1)});
  scenario.fleet[0].count = 1;  // serves 700
  EXPECT_EQ(conflict_of(scenario, steady_moment(400, 200)), Names());
  EXPECT_EQ(conflict_of(scenario, steady_moment(400, 400)), (Names{"a.floor", "b.floor"}));
  EXPECT_EQ(conflict_of(scenario, steady_moment(100, 5000)), (Names{"b.floor"}));
}

TEST(MomentConflict, WhatStandsAgainstAFloorIsNamed) {
  Scenario scenario = with_floors({});
  scenario.fleet[0].count = 1;
  scenario.services[1].floor_attainment = Decimal(1);
  scenario.services[0].pins = {{slice_at(0, "3g.40gb", 4)}};
  scenario.frozen = {{.from = Instant::at_second(5), .until = Instant::at_second(6)}};  // restricts no change
  EXPECT_EQ(conflict_of(scenario, steady_moment(100, 350)), Names());
  EXPECT_EQ(conflict_of(scenario, steady_moment(100, 500)), (Names{"a.pins", "b.floor"}));
}

TEST(MomentConflict, AFleetThatIsFarTooSmallIsProvenToBe) {
  Scenario scenario = with_floors({Decimal(1), Decimal(1)});  // two GPUs serve 1400
  EXPECT_EQ(conflict_of(scenario, steady_moment(500, 500)), Names());
  EXPECT_EQ(conflict_of(scenario, steady_moment(100, 9000)), (Names{"b.floor"}));
  EXPECT_EQ(conflict_of(scenario, steady_moment(800, 800)), (Names{"a.floor", "b.floor"}));
  // As a gets only whole GPUs, one service is always short; no bound finds that, so it is not called a conflict.
  scenario.services[0].isolation = Isolation::kGpu;
  EXPECT_EQ(conflict_of(scenario, steady_moment(600, 600)), Names());
  EXPECT_EQ(conflict_of(scenario, steady_moment(800, 400)), (Names{"?"}));
  // The space of a pin is not available.
  scenario.services[0].isolation = Isolation::kMig;
  scenario.services[0].pins = {{slice_at(0, "1g.10gb", 6)}, {slice_at(1, "1g.10gb", 6)}};
  EXPECT_EQ(conflict_of(scenario, steady_moment(100, 1300)), (Names{"a.pins", "b.floor"}));
}

TEST(MomentConflict, AsksLittleOfALargeFleet) {
  Scenario scenario = with_floors({Decimal(1), Decimal(1)});
  scenario.fleet[0].count = 2'000;
  const planner::Moment moment = steady_moment(100, 5e6);
  const planner::Frame frame = planner::make_frame(scenario);
  const auto found = find_moment_conflict({.scenario = scenario, .frame = frame, .moment = moment, .nodes_max = 100});
  const auto* conflict = std::get_if<Conflict>(&found);
  ASSERT_NE(conflict, nullptr);
  EXPECT_LE(conflict->calls, 2);
  EXPECT_EQ(conflict->constraints.back(), constraint_of({1}, ConstraintKind::kFloor));
}

TEST(MomentConflict, BudgetsAndFrozenWindowsDoNotBindTheFirstLayout) {
  Scenario scenario = with_floors({Decimal(1)});
  scenario.fleet[0].count = 1;
  scenario.services[0].changes_per_hour = 0;
  scenario.frozen = {{.from = Instant(), .until = Instant::at_second(30)}};
  planner::Moment moment = steady_moment(300, 100);
  moment.outlooks[0].changes_left = 0;
  const planner::Frame frame = planner::make_frame(scenario);
  MomentQuestion question{.scenario = scenario, .frame = frame, .moment = moment, .nodes_max = 20'000};
  question.is_first_layout = true;
  EXPECT_EQ(find_moment_conflict(question), ConflictSearchResult(CanBeMet{}));
  scenario.frozen.clear();
  question.is_first_layout = false;
  EXPECT_EQ(
      std::get<Conflict>(find_moment_conflict(question)).constraints,
      (std::vector{constraint_of({0}, ConstraintKind::kFloor), constraint_of({0}, ConstraintKind::kChangesPerHour)}));
}

TEST(MomentConflict, AChangeUnderWayIsNone) {
  Scenario scenario = with_floors({Decimal(1)});
  scenario.fleet[0].count = 1;
  planner::Moment moment = steady_moment(300, 0);
  moment.is_gpu_leaving = {1};
  // Not ready before the window's end: nothing else may begin on this GPU until then.
  moment.standing = {{.holding = held(slice_at(0, "1g.10gb", 0), {{1}}), .use = 0, .ready_in = Micros::seconds(100)}};
  EXPECT_EQ(conflict_of(scenario, moment), Names());
}

}  // namespace
}  // namespace berth
