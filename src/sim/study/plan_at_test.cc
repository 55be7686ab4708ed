#include "sim/study/plan_at.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/loop/planner_policy.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

std::vector<testing::Row> sizes() {
  return {{.profile = "1g.10gb", .latency_ms = 10},
          {.profile = "2g.20gb", .latency_ms = 5},
          {.profile = "3g.40gb", .batch = 2, .latency_ms = 7},
          {.profile = "7g.80gb", .batch = 4, .latency_ms = 6}};
}

/// The load moves from a to b at second 60.
Scenario switching(std::int64_t seconds = 120) {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (std::int64_t at = 0; at < seconds; ++at) {
    first.push_back(at < 60 ? 400 : 50);
    second.push_back(at < 60 ? 50 : 400);
  }
  Scenario scenario = testing::scenario_of({testing::service_of("a", sizes(), testing::counted(first)),
                                            testing::service_of("b", sizes(), testing::counted(second))},
                                           {});
  scenario.layout.reset();
  return scenario;
}

/// a has most of the GPU.
Scenario with_layout() {
  Scenario scenario = switching();
  scenario.layout = {{testing::holding_of(testing::slice_at(0, "1g.10gb", 0), {1}),
                      testing::holding_of(testing::slice_at(0, "3g.40gb", 4), {0})}};
  return scenario;
}

PlannedMoment planned_at(const Scenario& scenario, std::int64_t second) {
  PlanAt options;
  options.second = second;
  const auto moment = plan_at(scenario, options);
  EXPECT_TRUE(moment.has_value());
  return moment ? *moment : PlannedMoment();
}

/// The slices on GPU 0 when a plan takes effect.
std::vector<Slice> standing_slices(const PlanRecord& record) {
  std::vector<Slice> slices;
  for (const planner::StandingPiece& standing : record.problem.gpus.front().standing) {
    slices.push_back(record.frame.slice_at({0}, standing.piece.site));
  }
  std::ranges::sort(slices);
  return slices;
}

TEST(PlanAt, PlansAtThatSecond) {
  for (const std::int64_t second : {1, 17, 61, 119}) {
    SCOPED_TRACE(second);
    const PlannedMoment moment = planned_at(switching(), second);
    EXPECT_FALSE(moment.infeasible.has_value());
    ASSERT_TRUE(moment.record.has_value());
    EXPECT_EQ(moment.record->made_at, Instant::at_second(second));
    EXPECT_EQ(moment.record->acts_at, Instant::at_second(second));
    EXPECT_EQ(moment.record->problem.slots, 120 - second);
    EXPECT_EQ(planner::find_fault(moment.record->problem, moment.record->answer.schedule), std::nullopt);
    EXPECT_NEAR(planner::evaluate(moment.record->problem, moment.record->answer.schedule).objective,
                moment.record->answer.objective, 1e-9 * moment.record->answer.objective);
  }
  const PlannedMoment first = planned_at(switching(), 0);
  ASSERT_TRUE(first.record.has_value());
  EXPECT_EQ(first.record->made_at, Instant());
  EXPECT_TRUE(standing_slices(*first.record).empty());
}

TEST(PlanAt, BeginsWithTheFilesLayoutAndLeavesItAloneUntilThen) {
  const Scenario scenario = with_layout();
  for (const std::int64_t second : {5, 100}) {
    SCOPED_TRACE(second);
    const PlannedMoment moment = planned_at(scenario, second);
    ASSERT_TRUE(moment.record.has_value());
    EXPECT_EQ(moment.record->made_at, Instant::at_second(second));
    EXPECT_EQ(standing_slices(*moment.record),
              (std::vector<Slice>{testing::slice_at(0, "1g.10gb", 0), testing::slice_at(0, "3g.40gb", 4)}));
  }
  // By 100 the load has moved to b, which gets more.
  const PlanRecord later = *planned_at(scenario, 100).record;
  EXPECT_GT(later.answer.objective, later.stay_objective);
}

/// Two GPUs whose layout has slices to retrain on, and a service that retrains on 7g alone.
Scenario with_slices_to_retrain_on(const std::vector<Slice>& slices) {
  Scenario scenario = switching();
  scenario.fleet.front().count = 2;
  Retraining& retraining = scenario.services[0].retraining.emplace();
  retraining.every = Micros::seconds(30);
  retraining.time_on = {{7, Micros::seconds(5)}};
  scenario.layout.emplace();
  for (const Slice& slice : slices) {
    scenario.layout->push_back(testing::holding_of(slice, {0}, Role::kRetraining));
  }
  return scenario;
}

TEST(PlanAt, TakesALayoutWithSlicesThatAreOfNoUse) {
  // No progress is made on a 3g, and a service retrains on one slice at a time.
  const std::vector<std::vector<Slice>> layouts = {
      {testing::slice_at(0, "3g.40gb", 4)},
      {testing::slice_at(0, "3g.40gb", 4), testing::slice_at(1, "7g.80gb", 0)},
      {testing::slice_at(0, "7g.80gb", 0), testing::slice_at(1, "7g.80gb", 0)}};
  for (const std::vector<Slice>& slices : layouts) {
    for (const std::int64_t second : {0, 31, 90}) {
      SCOPED_TRACE(second);
      const PlannedMoment moment = planned_at(with_slices_to_retrain_on(slices), second);
      EXPECT_EQ(moment.infeasible, std::nullopt);
      EXPECT_EQ(moment.refused, std::nullopt);
      ASSERT_TRUE(moment.record.has_value());
      EXPECT_LE(moment.record->answer.objective, moment.record->answer.bound * (1 + 1e-9));
    }
  }
}

TEST(PlanAt, WithoutALayoutBeginsWithWhatThePolicyHasThere) {
  const Scenario scenario = switching();
  std::vector<PlanRecord> records;
  policy::Settings settings;
  settings.berth.record = [&](const PlanRecord& record) { records.push_back(record); };
  ASSERT_TRUE(replay_policy(scenario, "berth", 1, {}, settings).has_value());
  int compared = 0;
  for (const PlanRecord& record : records) {
    const std::int64_t second = record.made_at.second();
    if (second % 20 != 0) continue;
    SCOPED_TRACE(second);
    ++compared;
    const PlannedMoment moment = planned_at(scenario, second);
    ASSERT_TRUE(moment.record.has_value());
    EXPECT_EQ(standing_slices(*moment.record), standing_slices(record));
    EXPECT_EQ(moment.record->answer.objective, record.answer.objective);
  }
  EXPECT_GE(compared, 4);
}

/// The actions of the plan that a replay of `berth` makes at a second.
std::vector<Action> replayed_actions(const Scenario& scenario, std::int64_t second) {
  std::vector<Action> actions;
  sim::RunOptions run;
  run.loop.is_strict = true;
  run.loop.listener.plan = [&](const Plan& plan, Instant) {
    if (plan.made_at == Instant::at_second(second)) actions = plan.actions;
    for (Action& action : actions) action.number = 0;  // a plan that did not take effect has none
  };
  PlannerOptions planner{.loads_are_forecasts = true};
  planner.plans_also_at = Instant::at_second(second);
  std::vector<Stage> stages = {planner_stage(scenario, forecast_outlook(scenario), planner)};
  EXPECT_TRUE(sim::run_scenario(scenario, std::move(stages), run).has_value());
  return actions;
}

TEST(PlanAt, ThePlanIsTheOneThatTheEngineCarriesOut) {
  const Scenario scenario = switching();
  int acting = 0;
  for (const std::int64_t second : {0, 40, 60, 65, 100}) {
    SCOPED_TRACE(second);
    const PlannedMoment moment = planned_at(scenario, second);
    EXPECT_FALSE(moment.refused.has_value());
    EXPECT_EQ(moment.plan.actions, replayed_actions(scenario, second));
    acting += moment.plan.actions.empty() ? 0 : 1;
  }
  EXPECT_GE(acting, 2);
}

/// The layout of a file may break constraints from the start. The plan does not.
TEST(PlanAt, APlanFromALayoutThatBreaksConstraintsPassesTheVerifier) {
  Scenario scenario = with_layout();
  scenario.services[0].pins = {{testing::slice_at(0, "2g.20gb", 2)}};
  for (const std::int64_t second : {5, 100}) {
    const PlannedMoment moment = planned_at(scenario, second);
    EXPECT_EQ(moment.refused.value_or(""), "");
    ASSERT_TRUE(moment.record.has_value());
  }
}

TEST(PlanAt, ReportsHowThePlanWasSought) {
  for (const std::int64_t second : {17, 61, 95}) {
    SCOPED_TRACE(second);
    const PlannedMoment moment = planned_at(switching(), second);
    ASSERT_TRUE(moment.record.has_value());
    const PlanRecord& record = *moment.record;
    const planner::Answer again = planner::solve(record.problem, record.limits, record.known);
    EXPECT_EQ(again.nodes, record.answer.nodes);
    EXPECT_EQ(again.bound, record.answer.bound);
    // Low-value changes are left out afterwards.
    EXPECT_NEAR(again.objective, record.answer.objective, 1e-9 * again.objective);
  }
}

TEST(PlanAt, APlanMadeInAFrozenWindowChangesNothingThere) {
  Scenario scenario = switching();
  scenario.frozen = {{.from = Instant::at_second(60), .until = Instant::at_second(90)}};
  const PlannedMoment moment = planned_at(scenario, 75);
  ASSERT_TRUE(moment.record.has_value());
  EXPECT_EQ(moment.record->made_at, Instant::at_second(75));
  for (const auto& gpu : moment.record->answer.schedule.gpus) {
    for (const planner::Change& change : gpu) EXPECT_GE(change.slot, 15);
  }
}

TEST(PlanAt, TheSecondMustLieInTheRun) {
  for (const std::int64_t second : {120, 500}) {
    PlanAt options;
    options.second = second;
    const auto moment = plan_at(switching(), options);
    ASSERT_FALSE(moment.has_value());
    EXPECT_EQ(moment.error().message,
              "wanted a second before the end of the run at 120, found " + std::to_string(second));
  }
}

TEST(PlanAt, ReportsWhyThereIsNoPlan) {
  Scenario scenario = switching();
  scenario.services[0].pins = {{testing::slice_at(0, "1g.10gb", 0)}};
  scenario.services[1].pins = {{testing::slice_at(0, "1g.10gb", 1)}};
  scenario.services[0].trust_domain = "x";
  const PlannedMoment moment = planned_at(scenario, 10);
  EXPECT_FALSE(moment.record.has_value());
  ASSERT_TRUE(moment.infeasible.has_value());
  for (const char* name : {"a.pins", "b.pins", "a.trust_domain"}) {
    EXPECT_NE(moment.infeasible->find(name), std::string::npos) << *moment.infeasible;
  }
}

TEST(PlanAt, MayBeStopped) {
  PlanAt options;
  options.second = 100;
  double last = -1;
  int calls = 0;
  options.progress = [&](double done) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, 1);
    last = done;
    return ++calls < 20;
  };
  const auto moment = plan_at(switching(), options);
  ASSERT_FALSE(moment.has_value());
  EXPECT_EQ(moment.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(calls, 20);
}

}  // namespace
}  // namespace berth::study
