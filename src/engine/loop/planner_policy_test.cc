#include "engine/loop/planner_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/loop/constraints.h"
#include "engine/loop/test_fleet.h"
#include "engine/loop/verify.h"
#include "planner/window/carry.h"
#include "planner/window/check.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;

/// One or two A100, on which a slice serves 100 requests per second for each of its compute slices; two services.
Scenario small_fleet(std::int64_t gpus = 1) {
  Scenario scenario = testing::two_gpus();
  scenario.fleet[0].count = gpus;
  for (ServiceSpec& service : scenario.services) {
    service.arrivals.seconds = 600;
    service.start = Micros::seconds(2);
  }
  return scenario;
}

/// The policy, with the existing slices and the expected requests set by the test.
struct Posed {
  Scenario scenario;
  std::vector<double> loads = {100, 100};  ///< requests per second of each service, known
  std::vector<double> later_loads;         ///< those from `later_from` on, if any
  std::int64_t later_from = 0;
  PlannerOptions options = {};
  bool is_recorded = true;
  std::shared_ptr<std::vector<PlanRecord>> records = std::make_shared<std::vector<PlanRecord>>();
  std::shared_ptr<std::vector<Stretch>> asked = std::make_shared<std::vector<Stretch>>();

  explicit Posed(Scenario of) : scenario(std::move(of)) {}

  [[nodiscard]] Stage stage() const {
    OutlookSource outlook;
    const Expect expect = [asked = asked, loads = loads, later = later_loads, from = later_from](
                              ServiceId service, const Stretch& stretch) {
      asked->push_back(stretch);
      Expected expected;
      expected.mean_rate = std::max(1.0, loads[service.index]);
      for (std::int64_t second = stretch.from_second; second <= stretch.from_second + stretch.seconds; ++second) {
        expected.loads.push_back(!later.empty() && second >= from ? later[service.index] : loads[service.index]);
      }
      return expected;
    };
    outlook.ask = [expect] { return expect; };
    PlannerOptions recorded = options;
    if (is_recorded) recorded.record = [records = records](const PlanRecord& record) { records->push_back(record); };
    return planner_stage(scenario, std::move(outlook), recorded);
  }
};

Snapshot nothing_stands() {
  Snapshot snapshot;
  snapshot.services.resize(2);
  return snapshot;
}

Snapshot standing_at(std::int64_t second, const std::vector<Holding>& holdings) {
  Snapshot snapshot = nothing_stands();
  snapshot.now = Instant::at_second(second);
  std::vector<StandingSlice> slices;
  for (const Holding& holding : holdings) {
    slices.push_back({.holding = holding, .point = std::nullopt, .is_ready = true});
  }
  std::ranges::sort(slices, {}, [](const StandingSlice& each) { return each.holding.slice; });
  snapshot.slices = slices;
  return snapshot;
}

/// Both halves of GPU 0 are a's.
std::vector<Holding> all_of_a() {
  return {held(slice_at(0, "3g.40gb", 0), {{0}}), held(slice_at(0, "3g.40gb", 4), {{0}})};
}

/// The stage's plan for a snapshot; the verifiers accept it.
Plan planned(const Scenario& scenario, const Stage& stage, const Snapshot& snapshot) {
  Plan plan;
  plan.base_version = snapshot.version;
  plan.made_at = snapshot.now;
  EXPECT_EQ(testing::decide(stage, snapshot, plan), std::nullopt);
  const Instant acts_at = snapshot.is_before_first_layout() ? snapshot.now : snapshot.now + scenario.planning;
  const bool acts = !plan.actions.empty();
  EXPECT_EQ(acts ? find_objection(scenario, snapshot, plan, acts_at) : std::nullopt, std::nullopt);
  EXPECT_EQ(find_breach(scenario, snapshot, plan, acts_at), std::nullopt);
  return plan;
}

/// The slices that a plan assigns to a service alone.
std::vector<Slice> given_to(const Plan& plan, std::uint32_t service) {
  std::vector<Slice> slices;
  for (const Action& action : plan.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign != nullptr && assign->holding.services == std::vector<ServiceId>{{service}}) {
      slices.push_back(assign->holding.slice);
    }
  }
  return slices;
}
std::vector<Slice> destroyed_by(const Plan& plan) {
  std::vector<Slice> slices;
  for (const Action& action : plan.actions) {
    if (const auto* destroy = std::get_if<DestroySlice>(&action.what)) slices.push_back(destroy->slice);
  }
  return slices;
}

/// Requests per second that a plan's slices can serve of a service.
std::int64_t rate_given(const Plan& plan, std::uint32_t service) {
  std::int64_t rate = 0;
  for (const Slice& slice : given_to(plan, service)) {
    const std::int64_t size = profile_name(*mig::find_gpu_model("A100-80GB"), slice.profile)[0] - '0';
    rate += 100 * size;
  }
  return rate;
}

// ---- the first layout

TEST(PlannerPolicy, TheFirstLayoutActsAtOnceAndServesWhatIsExpected) {
  Posed posed(small_fleet());
  posed.scenario.planning = Micros::seconds(10);
  posed.scenario.frozen = {{.from = Instant(), .until = Instant::at_second(30)}};
  posed.loads = {400, 300};
  const Plan plan = planned(posed.scenario, posed.stage(), nothing_stands());
  EXPECT_GE(rate_given(plan, 0), 400);
  EXPECT_GE(rate_given(plan, 1), 300);
  EXPECT_TRUE(destroyed_by(plan).empty());
  ASSERT_EQ(posed.records->size(), 1U);
  const PlanRecord& record = posed.records->front();
  EXPECT_EQ(record.acts_at, Instant());
  EXPECT_EQ(posed.asked->front().from_second, 0);
  for (const auto& changes : record.answer.schedule.gpus) {
    for (const planner::Change& change : changes) EXPECT_EQ(change.slot, 0);
  }
  EXPECT_GE(record.answer.bound, record.answer.objective);
  EXPECT_GT(record.answer.objective, record.stay_objective);
}

TEST(PlannerPolicy, PinsStandFromTheFirstLayoutOnAlsoWhereNobodyGains) {
  Posed posed(small_fleet());
  const Slice pinned = slice_at(0, "1g.10gb", 6);
  posed.scenario.services[1].pins = {{pinned}};
  for (const double load : {0.0, 700.0}) {
    SCOPED_TRACE(load);
    posed.loads = {load, 0};
    EXPECT_EQ(given_to(planned(posed.scenario, posed.stage(), nothing_stands()), 1), std::vector{pinned});
  }
}

TEST(PlannerPolicy, BesideSlicesOfOthersTheRestOfAGpuIsUsed) {
  Posed posed(small_fleet());
  posed.loads = {200, 100};
  Snapshot shared = nothing_stands();
  const Slice others = slice_at(0, "3g.40gb", 0);
  shared.slices = std::vector<StandingSlice>{{.holding = held(others, {}), .is_ready = true, .is_foreign = true}};
  const Plan first = planned(posed.scenario, posed.stage(), shared);
  EXPECT_GE(rate_given(first, 0), 200);
  EXPECT_GE(rate_given(first, 1), 100);

  shared = standing_at(20, {held(others, {}), held(slice_at(0, "3g.40gb", 4), {{0}})});
  shared.slices.change(0).is_foreign = true;
  posed.loads = {0, 300};
  const Plan later = planned(posed.scenario, posed.stage(), shared);
  EXPECT_GE(rate_given(later, 1), 200);
  for (const Slice& slice : destroyed_by(later)) EXPECT_NE(slice, others);
}

TEST(PlannerPolicy, AScenarioThatNoLayoutKeepsIsInfeasibleAndTheConflictIsNamed) {
  Scenario scenario = small_fleet();
  scenario.services[0].pins = {{slice_at(0, "1g.10gb", 0)}};
  scenario.services[1].pins = {{slice_at(0, "1g.10gb", 1)}};
  scenario.services[1].isolation = Isolation::kGpu;
  const Posed posed(scenario);
  Plan plan;
  const auto why = testing::decide(posed.stage(), nothing_stands(), plan);
  ASSERT_TRUE(why.has_value());
  for (const char* name : {"a.pins", "b.pins", "b.isolation"}) EXPECT_NE(why->find(name), std::string::npos) << *why;
  EXPECT_TRUE(plan.actions.empty());
  EXPECT_TRUE(posed.records->empty());
}

// ---- when it plans

TEST(PlannerPolicy, PlansEachPeriodAndAtNewsOfARetraining) {
  Posed posed(small_fleet());
  posed.options.period_seconds = 7;
  Retraining retraining;
  retraining.every = Micros::seconds(100);
  retraining.time_on = {{1, Micros::seconds(40)}};
  posed.scenario.services[0].retraining = retraining;
  const Stage stage = posed.stage();
  for (std::int64_t second = 20; second < 45; ++second) {
    Snapshot snapshot = standing_at(second, all_of_a());
    snapshot.services[0].is_retraining_due = second >= 30 && second < 39;
    planned(posed.scenario, stage, snapshot);
  }
  std::vector<std::int64_t> made;
  for (const PlanRecord& record : *posed.records) made.push_back(record.made_at.second());
  EXPECT_EQ(made, (std::vector<std::int64_t>{20, 27, 30, 37, 39}));
  EXPECT_EQ(posed.records->back().expires_at, Instant::at_second(39 + 7));
}

TEST(PlannerPolicy, APlanIsForTheInstantAtWhichItActs) {
  Posed posed(small_fleet());
  posed.scenario.planning = Micros::seconds(12);
  posed.scenario.window_seconds = 50;
  // Until then a has the load, from then on b: only a planner that looks at the right seconds gives b a slice.
  posed.loads = {600, 0};
  posed.later_loads = {0, 600};
  posed.later_from = 112;
  const Plan plan = planned(posed.scenario, posed.stage(), standing_at(100, all_of_a()));
  EXPECT_GE(rate_given(plan, 1), 600);
  ASSERT_EQ(posed.records->size(), 1U);
  const PlanRecord& record = posed.records->front();
  EXPECT_EQ(record.made_at, Instant::at_second(100));
  EXPECT_EQ(record.acts_at, Instant::at_second(112));
  EXPECT_EQ(record.expires_at, Instant::at_second(117));
  EXPECT_EQ(plan.expires_at, Instant::at_second(117));
  for (const Stretch& stretch : *posed.asked) {
    EXPECT_EQ(stretch.from_second, 112);
    EXPECT_EQ(stretch.seconds, 50);
    EXPECT_EQ(stretch.tail_seconds, 100);
  }
}

TEST(PlannerPolicy, TheWindowEndsWithTheRun) {
  Posed posed(small_fleet());
  const Stage stage = posed.stage();
  planned(posed.scenario, stage, standing_at(380, all_of_a()));
  planned(posed.scenario, stage, standing_at(580, all_of_a()));
  ASSERT_EQ(posed.records->size(), 2U);
  EXPECT_EQ(posed.records->at(0).problem.slots, 200);
  EXPECT_EQ(posed.records->at(0).problem.tail_seconds, 20);
  EXPECT_EQ(posed.records->at(1).problem.slots, 20);
  EXPECT_EQ(posed.records->at(1).problem.tail_seconds, 0);
}

TEST(PlannerPolicy, PlansOnceWhereSomethingStands) {
  Posed posed(small_fleet());
  posed.options.plans_once_at = Instant::at_second(50);
  const Stage stage = posed.stage();
  Plan busy;
  busy.actions = {testing::create(slice_at(0, "1g.10gb", 0))};
  EXPECT_EQ(testing::decide(stage, standing_at(50, all_of_a()), busy),
            std::nullopt);  // another stage acts in this step
  EXPECT_EQ(busy.actions.size(), 1U);
  for (const std::int64_t second : {0, 10, 49, 51, 52, 60, 100}) {
    planned(posed.scenario, stage, standing_at(second, all_of_a()));
  }
  ASSERT_EQ(posed.records->size(), 1U);
  EXPECT_EQ(posed.records->front().made_at, Instant::at_second(51));
}

TEST(PlannerPolicy, PlansAlsoWhenItIsAsked) {
  Posed posed(small_fleet());
  posed.options.plans_also_at = Instant::at_second(32);
  posed.scenario.frozen = {{.from = Instant::at_second(31), .until = Instant::at_second(40)}};
  posed.loads = {0, 300};
  const Stage stage = posed.stage();
  for (std::int64_t second = 28; second < 42; ++second) {
    const Plan plan = planned(posed.scenario, stage, standing_at(second, all_of_a()));
    const bool is_frozen_then = second >= 31 && second < 40;
    EXPECT_TRUE(plan.actions.empty() || !is_frozen_then);  // planned or not
  }
  std::vector<std::int64_t> made;
  for (const PlanRecord& record : *posed.records) made.push_back(record.made_at.second());
  EXPECT_EQ(made, (std::vector<std::int64_t>{28, 32, 40}));
}

TEST(PlannerPolicy, LooksAheadToWindowsWithoutChanges) {
  Posed posed(small_fleet());
  // Seconds 30 to 90 of the world.
  posed.scenario.no_changes = {.week_at_start = Micros::seconds(30), .spans = {{.from_minute = 1, .until_minute = 2}}};
  posed.loads = {0, 300};
  const Stage stage = posed.stage();
  for (std::int64_t second = 20; second < 95; ++second) {
    const Plan plan = planned(posed.scenario, stage, standing_at(second, all_of_a()));
    EXPECT_TRUE(plan.actions.empty() || second < 30 || second >= 90);
  }
  for (const PlanRecord& record : *posed.records) {
    const auto& is_frozen = record.problem.is_frozen;
    ASSERT_EQ(is_frozen.size(), static_cast<std::size_t>(record.problem.slots));
    for (std::size_t slot = 0; slot < is_frozen.size(); ++slot) {
      const auto second = record.made_at.second() + static_cast<std::int64_t>(slot);
      EXPECT_EQ(is_frozen[slot] != 0, second >= 30 && second < 90) << second;
    }
  }
  EXPECT_FALSE(posed.records->empty());
}

// ---- what an answer is worth

/// How much more an answer of service 0 is worth than one of service 1 to the plans made each 5 s with forecasts.
/// Service 0 got `before` requests per second for an hour, and 100 since second 0; service 1 always 100.
std::vector<double> relative_worths(const Scenario& scenario, std::int64_t before, std::int64_t seconds) {
  std::vector<double> worths;
  PlannerOptions options;
  options.record = [&worths](const PlanRecord& record) {
    worths.push_back(record.problem.services[0].value / record.problem.services[1].value);
  };
  const Stage stage = planner_stage(scenario, forecast_outlook(scenario), options);
  std::int64_t seen = -3600;
  for (std::int64_t now = 5; now <= seconds; now += 5) {
    Snapshot snapshot = standing_at(now, all_of_a());
    for (; seen < now; ++seen) {
      for (std::uint32_t index = 0; index < 2; ++index) {
        snapshot.services[index].seconds.push_back(
            {.service = {index}, .second = seen, .arrivals = index == 0 && seen < 0 ? before : 100});
      }
    }
    planned(scenario, stage, snapshot);
  }
  return worths;
}

TEST(PlannerPolicy, TheWorthOfAnAnswerDependsOnThePresentRateNotOnTheHourBefore) {
  const Scenario scenario = small_fleet();
  for (const std::int64_t before : {35, 280}) {
    SCOPED_TRACE(before);
    const std::vector<double> worths = relative_worths(scenario, before, 300);
    EXPECT_NEAR(worths.back(), 1, 0.15);
    for (std::size_t i = 1; i < worths.size(); ++i) {
      EXPECT_LT(std::abs(std::log(worths[i] / worths[i - 1])), 0.25) << i;
    }
  }
}

TEST(PlannerPolicy, WithTheObjectiveOfRequestsAllAnswersAreWorthTheSame) {
  Scenario scenario = small_fleet();
  scenario.objective = Objective::kRequests;
  for (const double worth : relative_worths(scenario, 280, 30)) EXPECT_EQ(worth, 1);
}

// ---- what a plan keeps

TEST(PlannerPolicy, NothingBeginsInFrozenWindows) {
  Posed posed(small_fleet());
  posed.scenario.planning = Micros::seconds(3);
  posed.scenario.frozen = {{.from = Instant::at_second(20), .until = Instant::at_second(40)}};
  posed.loads = {0, 600};
  const Stage stage = posed.stage();
  for (std::int64_t second = 17; second < 37; ++second) {
    EXPECT_TRUE(planned(posed.scenario, stage, standing_at(second, all_of_a())).actions.empty()) << second;
  }
  EXPECT_FALSE(planned(posed.scenario, stage, standing_at(37, all_of_a())).actions.empty());  // takes effect at 40
}

TEST(PlannerPolicy, APlanBeforeAFrozenWindowLeavesItAlone) {
  Posed posed(small_fleet());
  posed.scenario.frozen = {{.from = Instant::at_second(5), .until = Instant::at_second(60)}};
  // The best time to hand over would be 30, which is frozen.
  posed.loads = {500, 0};
  posed.later_loads = {0, 600};
  posed.later_from = 30;
  planned(posed.scenario, posed.stage(), standing_at(1, all_of_a()));
  ASSERT_EQ(posed.records->size(), 1U);
  int changes = 0;
  for (const auto& gpu : posed.records->front().answer.schedule.gpus) {
    for (const planner::Change& change : gpu) {
      ++changes;
      EXPECT_TRUE(change.slot < 4 || change.slot >= 59) << change.slot;
    }
  }
  EXPECT_GT(changes, 0);
}

TEST(PlannerPolicy, PinnedSlicesStayWhateverTheLoad) {
  Posed posed(small_fleet());
  posed.scenario.services[0].pins = {{slice_at(0, "3g.40gb", 4)}};
  posed.loads = {0, 700};
  const Plan plan = planned(posed.scenario, posed.stage(), standing_at(10, all_of_a()));
  EXPECT_FALSE(given_to(plan, 1).empty());
  EXPECT_EQ(std::ranges::count(destroyed_by(plan), slice_at(0, "3g.40gb", 4)), 0);
  EXPECT_EQ(std::ranges::count(given_to(plan, 1), slice_at(0, "3g.40gb", 4)), 0);
}

TEST(PlannerPolicy, ASpentBudgetForbidsCutsNotHandovers) {
  // The best plan destroys the first half of each GPU: slices that fit there serve 400 requests per second instead of
  // 300.
  Posed posed(small_fleet(2));
  posed.scenario.services[0].changes_per_hour = 4;
  posed.loads = {0, 1400};
  std::vector<Holding> holdings = all_of_a();
  for (const Holding& half : all_of_a())
    holdings.push_back(held({.gpu = {1}, .start = half.slice.start, .profile = half.slice.profile}, {{0}}));
  Snapshot snapshot = standing_at(3000, holdings);
  posed.scenario.services[0].arrivals.seconds = 4000;
  const auto destroyed_after = [&](std::int64_t count, std::int64_t second) {
    snapshot.services[0].changes = {{.at = Instant::at_second(second), .count = count}};
    const Plan plan = planned(posed.scenario, posed.stage(), snapshot);
    EXPECT_FALSE(given_to(plan, 1).empty());  // handed over as it is
    return destroyed_by(plan).size();
  };
  EXPECT_EQ(destroyed_after(4, 2900), 0U);
  EXPECT_EQ(destroyed_after(3, 2900), 1U);
  EXPECT_EQ(destroyed_after(0, 2900), 2U);
}

TEST(PlannerPolicy, FloorsThatCannotAllBeKeptAreNamedAndTheRestIsDone) {
  Posed posed(small_fleet());
  posed.scenario.services[0].floor_attainment = Decimal(1);
  posed.scenario.services[1].floor_attainment = Decimal(1);
  posed.loads = {300, 300};
  const Plan kept = planned(posed.scenario, posed.stage(), nothing_stands());
  EXPECT_FALSE(kept.unmet_floors.has_value());
  ASSERT_EQ(kept.floors.size(), 2U);
  for (const PlannedFloor& floor : kept.floors) {
    EXPECT_NEAR(floor.needed, 300, 1e-6);
    EXPECT_GE(floor.planned, floor.needed * (1 - 1e-9));
  }
  posed.loads = {500, 500};
  const Plan short_of = planned(posed.scenario, posed.stage(), nothing_stands());
  const ConstraintId floor_of_a = constraint_of({0}, ConstraintKind::kFloor);
  const ConstraintId floor_of_b = constraint_of({1}, ConstraintKind::kFloor);
  EXPECT_EQ(short_of.unmet_floors, UnmetFloors(ProvenConflict{.constraints = {floor_of_a, floor_of_b}}));
  EXPECT_GE(rate_given(short_of, 0) + rate_given(short_of, 1), 600);
  ASSERT_EQ(posed.records->size(), 2U);
  EXPECT_EQ(posed.records->back().unmet_floors, short_of.unmet_floors);
  posed.is_recorded = false;  // a plan's text does not depend on the observer
  EXPECT_EQ(planned(posed.scenario, posed.stage(), nothing_stands()), short_of);
  posed.loads = {100, 5000};
  const Plan one = planned(posed.scenario, posed.stage(), nothing_stands());
  EXPECT_EQ(one.unmet_floors, UnmetFloors(ProvenConflict{.constraints = {floor_of_b}}));
}

TEST(PlannerPolicy, AFloorThatWaitsForAChangeUnderWayHasAnEnd) {
  Posed posed(small_fleet(2));
  posed.scenario.services[0].floor_attainment = posed.scenario.services[1].floor_attainment = Decimal(1);
  posed.loads = {300, 900};  // 700 of GPU 1 for b, and the space that a slice of GPU 0 leaves
  Snapshot snapshot = standing_at(10, {held(slice_at(0, "3g.40gb", 0), {{1}}), held(slice_at(0, "3g.40gb", 4), {{0}})});
  snapshot.slices.change(0).is_leaving = true;
  const Plan plan = planned(posed.scenario, posed.stage(), snapshot);
  EXPECT_GE(rate_given(plan, 1), 500);
  EXPECT_EQ(plan.unmet_floors, UnmetFloors(ChangeUnderWay{.until = Instant::at_second(11)}));
  snapshot.slices.erase(snapshot.slices.begin());
  EXPECT_EQ(planned(posed.scenario, posed.stage(), snapshot).unmet_floors, std::nullopt);
}

TEST(PlannerPolicy, WhatIsNeitherMetNorProvenIsNotDecided) {
  Posed posed(small_fleet(2));
  posed.scenario.services[0].floor_attainment = posed.scenario.services[1].floor_attainment = Decimal(1);
  posed.scenario.services[0].isolation = Isolation::kGpu;
  posed.loads = {800, 400};  // a needs more than a GPU, and has whole ones only
  EXPECT_EQ(planned(posed.scenario, posed.stage(), nothing_stands()).unmet_floors, UnmetFloors(FloorsNotDecided{}));
}

TEST(PlannerPolicy, AFloorComesBeforeGoodput) {
  Posed posed(small_fleet());
  posed.scenario.services[1].floor_attainment = Decimal(1);
  posed.scenario.services[1].weight = Decimal(1, 1000);  // worth almost nothing
  posed.loads = {700, 200};
  const Plan plan = planned(posed.scenario, posed.stage(), standing_at(10, all_of_a()));
  EXPECT_GE(rate_given(plan, 1), 200);
  EXPECT_FALSE(plan.unmet_floors.has_value());
}

TEST(PlannerPolicy, IsolationAndTrustDomainsKeepServicesApart) {
  for (const bool is_domain : {false, true}) {
    SCOPED_TRACE(is_domain);
    Posed posed(small_fleet(2));
    if (is_domain) {
      posed.scenario.services[0].trust_domain = "x";
    } else {
      posed.scenario.services[0].isolation = Isolation::kGpu;
    }
    posed.loads = {100, 900};
    const Plan plan = planned(posed.scenario, posed.stage(), nothing_stands());
    ASSERT_FALSE(given_to(plan, 0).empty());
    ASSERT_FALSE(given_to(plan, 1).empty());
    for (const Slice& a : given_to(plan, 0)) {
      for (const Slice& b : given_to(plan, 1)) EXPECT_NE(a.gpu, b.gpu);
    }
  }
}

// ---- features switched off

TEST(PlannerPolicy, WithoutRecutsOnlyTheFirstLayoutIsPlanned) {
  Posed posed(small_fleet());
  posed.options.recuts = 0;
  const Stage stage = posed.stage();
  planned(posed.scenario, stage, nothing_stands());
  posed.loads = {0, 700};
  for (std::int64_t second = 1; second < 30; ++second) {
    EXPECT_TRUE(planned(posed.scenario, stage, standing_at(second, all_of_a())).actions.empty());
  }
  ASSERT_EQ(posed.records->size(), 1U);
  EXPECT_EQ(posed.records->front().problem.slots, 600);  // the whole run
}

TEST(PlannerPolicy, ATooSmallGainIsNotWorthASlice) {
  Posed posed(small_fleet());
  posed.loads = {600, 1};
  // Slices that are handed over are neither created nor destroyed.
  const auto slices_changed_at = [&](double gain_min_seconds) {
    posed.options.gain_min_seconds = gain_min_seconds;
    const Plan plan = planned(posed.scenario, posed.stage(), standing_at(10, all_of_a()));
    return std::ranges::count_if(plan.actions, [](const Action& action) {
      return std::holds_alternative<CreateSlice>(action.what) || std::holds_alternative<DestroySlice>(action.what);
    });
  };
  EXPECT_GT(slices_changed_at(0), 0);
  EXPECT_EQ(slices_changed_at(1e6), 0);
}

TEST(PlannerPolicy, TheSameTwice) {
  Posed posed(small_fleet(2));
  posed.loads = {300, 500};
  EXPECT_EQ(planned(posed.scenario, posed.stage(), standing_at(10, all_of_a())),
            planned(posed.scenario, posed.stage(), standing_at(10, all_of_a())));
}

}  // namespace
}  // namespace berth
