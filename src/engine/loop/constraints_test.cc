#include "engine/loop/constraints.h"

#include <gtest/gtest.h>

#include "engine/loop/engine.h"
#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

constexpr Instant kNow = Instant::at_second(5000);
const Slice one_g = slice_at(0, "1g.10gb", 0);
const Slice two_g = slice_at(0, "2g.20gb", 2);
const Slice three_g = slice_at(0, "3g.40gb", 4);
const Slice other_g = slice_at(1, "3g.40gb", 4);

/// Services a, b and c; GPU 0 holds 1g@0 of a and 3g@4 of b; GPU 1 holds 3g@4 of a and 2g@0 of b, which is leaving.
struct ConstrainedWorld {
  Scenario scenario = two_gpus();
  Snapshot snapshot;
  Plan plan;

  ConstrainedWorld() {
    scenario.services.push_back(scenario.services.front());
    scenario.services.back().name = "c";
    snapshot.now = kNow;
    snapshot.services.resize(3);
    snapshot.slices = {
        {.holding = held(one_g, {{0}}), .is_ready = true},
        {.holding = held(three_g, {{1}}), .is_ready = true},
        {.holding = held(slice_at(1, "2g.20gb", 0), {{1}}), .is_leaving = true},
        {.holding = held(other_g, {{0}}), .is_ready = true},
    };
  }
  [[nodiscard]] ServiceSpec& a() { return scenario.services[0]; }
  [[nodiscard]] ServiceSpec& b() { return scenario.services[1]; }
  [[nodiscard]] ServiceSpec& c() { return scenario.services[2]; }
  [[nodiscard]] std::string breach(std::vector<Action> actions) {
    plan.actions = std::move(actions);
    return find_breach(scenario, snapshot, plan, kNow).value_or("");
  }
};

/// A plan that acts on GPU 0 alone: it creates 2g@2 without an owner.
std::vector<Action> touch() { return {create(two_g)}; }
std::vector<Action> cut_for(const Slice& slice, std::vector<ServiceId> services, Role role = Role::kInference) {
  return {create(slice), give(held(slice, std::move(services), role))};
}

TEST(Constraints, SlicesAreOnGpusOfTheModelOfTheTierRule) {
  ConstrainedWorld world;
  world.c().tier.gpu = "A100-80GB";
  EXPECT_EQ(world.breach(cut_for(two_g, {{2}})), "");
  world.c().tier.gpu = "A30-24GB";
  EXPECT_EQ(world.breach(cut_for(two_g, {{2}})),
            "gpu-0: wanted slices of c on GPUs of the model A30-24GB only (c.tier), found 2g.20gb@2 of a A100-80GB");
  EXPECT_NE(world.breach(cut_for(two_g, {{2}}, Role::kRetraining)), "");
  EXPECT_EQ(world.breach(cut_for(two_g, {{1}})), "");
  // Slices that it has may stay, or be taken from it.
  world.a().tier.gpu = "A30-24GB";
  EXPECT_EQ(world.breach({give(held(one_g, {{0}}))}), "");
  EXPECT_EQ(world.breach({destroy(one_g)}), "");
  EXPECT_NE(world.breach({give(held(three_g, {{0}}))}), "");
}

TEST(Constraints, NumbersOfSlicesGetNoWorse) {
  ConstrainedWorld world;
  world.a().running.replicas = ReplicaLimits{.slices_min = 2, .slices_max = 2};
  EXPECT_EQ(world.breach({destroy(one_g)}),
            "a: wanted at least 2 slices (a.replicas), found that the plan leaves 1 of 2");
  EXPECT_EQ(world.breach({give(held(one_g, {{2}}))}),
            "a: wanted at least 2 slices (a.replicas), found that the plan leaves 1 of 2");
  EXPECT_EQ(world.breach(cut_for(two_g, {{0}})),
            "a: wanted at most 2 slices (a.replicas), found that the plan makes 3 of 2");
  std::vector<Action> moved = cut_for(two_g, {{0}});
  moved.insert(moved.begin(), destroy(one_g));
  EXPECT_EQ(world.breach(moved), "");
  // Who has too few already may still have one, and a slice on which it retrains is not one of them.
  world.a().running.replicas->slices_min = 3;
  EXPECT_EQ(world.breach(touch()), "");
  EXPECT_EQ(world.breach(cut_for(two_g, {{0}}, Role::kRetraining)), "");
  world.a().ready.warm_pool = WarmPool();
  EXPECT_EQ(world.breach({destroy(one_g)}),
            "a: wanted at least 3 slices (a.warm_pool), found that the plan leaves 1 of 2");
}

TEST(Constraints, SlicesOnADrainingGpuMayHaveTheirSuccessors) {
  ConstrainedWorld world;
  world.a().running.replicas = ReplicaLimits{.slices_min = 2, .slices_max = 2};
  world.snapshot.gpus.resize(2);
  world.snapshot.gpus[1].scheduling = GpuScheduling::kDraining;
  EXPECT_EQ(world.breach(cut_for(two_g, {{0}})), "");
  world.a().running.replicas->slices_max = 1;
  EXPECT_EQ(world.breach(cut_for(two_g, {{0}})),
            "a: wanted at most 1 slices (a.replicas), found that the plan makes 2 of 1");
}

TEST(Constraints, NothingIsWantedByDefault) {
  ConstrainedWorld world;
  EXPECT_EQ(world.breach(cut_for(two_g, {{2}})), "");
  EXPECT_EQ(world.breach({destroy(one_g), destroy(three_g), destroy(other_g)}), "");
}

TEST(Constraints, APlanWithoutActionsHasNoBreach) {
  ConstrainedWorld world;
  world.a().isolation = Isolation::kGpu;
  world.a().floor_attainment = Decimal(1);
  EXPECT_EQ(world.breach({}), "");
}

// ---- pins

TEST(Constraints, APinStandsAndIsItsOwners) {
  struct Case {
    const char* name;
    std::vector<Action> actions;
    const char* breach;
  };
  const std::vector<Case> cases = {
      {"untouched", touch(), ""},
      {"retrains", {give(held(one_g, {{0}}, Role::kRetraining))}, ""},
      {"destroyed",
       {destroy(one_g)},
       "gpu-0: wanted 1g.10gb@0 to stay a's own (a.pins), found that the plan destroys it"},
      {"destroyed and created again",
       {destroy(one_g), create(one_g), give(held(one_g, {{0}}))},
       "gpu-0: wanted 1g.10gb@0 to stay a's own (a.pins), found that the plan destroys it"},
      {"given to another",
       {give(held(one_g, {{1}}))},
       "gpu-0: wanted 1g.10gb@0 to stay a's own (a.pins), found that the plan gives it to b"},
      {"given away and back",
       {give(held(one_g, {{1}})), give(held(one_g, {{0}}))},
       "gpu-0: wanted 1g.10gb@0 to stay a's own (a.pins), found that the plan gives it to b"},
      {"shared",
       {give(held(one_g, {{0}, {1}}))},
       "gpu-0: wanted 1g.10gb@0 to stay a's own (a.pins), found that the plan gives it to a and b"},
      {"given to no service",
       {give(held(one_g, {}))},
       "gpu-0: wanted 1g.10gb@0 to stay a's own (a.pins), found that the plan gives it to no service"},
  };
  for (const Case& each : cases) {
    ConstrainedWorld world;
    world.a().pins = {{one_g}};
    EXPECT_EQ(world.breach(each.actions), each.breach) << each.name;
  }
}

TEST(Constraints, APlanThatChangesAGpuLeavesItsPinsRight) {
  ConstrainedWorld world;
  world.c().pins = {{two_g}};
  EXPECT_EQ(world.breach({destroy(other_g)}), "");  // GPU 0 is invalid already, and not touched
  EXPECT_EQ(world.breach({give(held(one_g, {{1}}))}),
            "gpu-0: wanted 2g.20gb@2 for c alone (c.pins), found no such slice");
  EXPECT_EQ(world.breach(touch()), "gpu-0: wanted 2g.20gb@2 for c alone (c.pins), found it held by no service");
  EXPECT_EQ(world.breach(cut_for(two_g, {{2}}, Role::kRetraining)), "");

  ConstrainedWorld other;
  other.c().pins = {{three_g}};
  EXPECT_EQ(other.breach(touch()), "gpu-0: wanted 3g.40gb@4 for c alone (c.pins), found it held by b");
  EXPECT_EQ(other.breach({give(held(three_g, {{2}}))}), "");
}

TEST(Constraints, TheFirstLayoutHasEveryPin) {
  ConstrainedWorld world;
  world.snapshot.now = Instant();
  world.snapshot.slices.clear();
  world.c().pins = {{other_g}};
  EXPECT_EQ(world.breach(cut_for(one_g, {{0}})), "gpu-1: wanted 3g.40gb@4 for c alone (c.pins), found no such slice");
  EXPECT_EQ(world.breach(cut_for(other_g, {{2}})), "");
}

// ---- isolation and trust domains

TEST(Constraints, IsolationMigSharesNoSlice) {
  ConstrainedWorld world;
  world.b().isolation = Isolation::kMps;
  EXPECT_EQ(world.breach({give(held(three_g, {{0}, {1}}))}),
            "gpu-0: wanted 3g.40gb@4 for one service (a.isolation), found a and b in it");
  world.a().isolation = Isolation::kTimeslice;
  EXPECT_EQ(world.breach({give(held(three_g, {{0}, {1}}))}), "");
  world.b().isolation = Isolation::kMig;
  EXPECT_EQ(world.breach({give(held(three_g, {{0}, {1}}))}),
            "gpu-0: wanted 3g.40gb@4 for one service (b.isolation), found a and b in it");
}

TEST(Constraints, IsolationGpuSharesNoGpu) {
  ConstrainedWorld world;
  world.b().isolation = Isolation::kGpu;
  EXPECT_EQ(world.breach({destroy(other_g)}), "");  // b is not alone on GPU 0, but the plan acts on GPU 1
  EXPECT_EQ(world.breach(touch()), "gpu-0: wanted b alone (b.isolation), found a there too");
  EXPECT_EQ(world.breach({destroy(one_g), create(two_g), give(held(two_g, {{1}}))}), "");
  EXPECT_EQ(world.breach({give(held(one_g, {}))}), "");  // an unowned slice does not count
  // b's slice on GPU 1 is leaving.
  EXPECT_EQ(world.breach({give(held(other_g, {{2}}))}), "");
  EXPECT_EQ(world.breach(cut_for(slice_at(1, "1g.10gb", 2), {{1}})),
            "gpu-1: wanted b alone (b.isolation), found a there too");
}

TEST(Constraints, ATrustDomainSharesItsGpusWithItsOwn) {
  ConstrainedWorld world;
  world.a().trust_domain = "x";
  EXPECT_EQ(world.breach({give(held(other_g, {{1}}))}), "");  // GPU 0 mixes already and is not touched
  EXPECT_EQ(
      world.breach(touch()),
      "gpu-0: wanted only services of trust domain x together with a (a.trust_domain), found b of no trust domain");
  world.b().trust_domain = "y";
  EXPECT_EQ(
      world.breach(touch()),
      "gpu-0: wanted only services of trust domain x together with a (a.trust_domain), found b of trust domain y");
  world.b().trust_domain = "x";
  EXPECT_EQ(world.breach(touch()), "");
  EXPECT_EQ(
      world.breach(cut_for(two_g, {{2}})),
      "gpu-0: wanted only services of trust domain x together with a (a.trust_domain), found c of no trust domain");
}

// ---- budgets

TEST(Constraints, ABudgetCountsTheHourThatEndsNow) {
  ConstrainedWorld world;
  world.a().changes_per_hour = 3;
  world.snapshot.services[0].changes = {{.at = kNow - Micros::seconds(3600), .count = 50},
                                        {.at = kNow - Micros::seconds(3600) + Micros(1), .count = 2}};
  EXPECT_EQ(world.breach({destroy(one_g)}), "");
  EXPECT_EQ(world.breach({destroy(one_g), destroy(other_g)}),
            "a: wanted at most 3 changes per hour (a.changes_per_hour), found 2 and 2 of the plan");
  EXPECT_EQ(world.breach({destroy(one_g), create(one_g), give(held(one_g, {{0}}))}),
            "a: wanted at most 3 changes per hour (a.changes_per_hour), found 2 and 2 of the plan");
  EXPECT_EQ(world.breach({destroy(one_g), create(one_g), give(held(one_g, {{2}}))}), "");  // one of a, one of c
  EXPECT_EQ(world.breach({give(held(one_g, {{2}})), give(held(three_g, {{0}}))}), "");     // nothing is cut
  // The slice counts as a's although the plan gives it away first.
  world.a().changes_per_hour = 2;
  EXPECT_EQ(world.breach({give(held(one_g, {{2}})), destroy(one_g)}),
            "a: wanted at most 2 changes per hour (a.changes_per_hour), found 2 and 1 of the plan");
  // The budget is spent, but the plan changes nothing of a.
  world.a().changes_per_hour = 0;
  EXPECT_EQ(world.breach({destroy(three_g)}), "");
}

TEST(Constraints, TheFirstLayoutIsFree) {
  ConstrainedWorld world;
  world.a().changes_per_hour = 0;
  world.snapshot.slices.clear();
  EXPECT_NE(world.breach(cut_for(one_g, {{0}})), "");
  world.snapshot.now = Instant();
  EXPECT_EQ(world.breach(cut_for(one_g, {{0}})), "");
}

// ---- floors: a 1g serves 100 requests per second, a 3g 300

TEST(Constraints, AFloorBindsPlannedCapacity) {
  ConstrainedWorld world;
  world.a().floor_attainment = Decimal(95, 100);
  EXPECT_EQ(world.breach(touch()), "a: wanted the capacity that the plan counts on (a.floor), found none");
  world.plan.floors = {{.service = {0}, .needed = 400, .planned = 400}};
  EXPECT_EQ(world.breach(touch()), "");
  world.plan.floors = {{.service = {0}, .needed = 401, .planned = 400}};
  EXPECT_EQ(world.breach(touch()), "a: wanted 401 requests per second (a.floor), found slices for 400");
  world.plan.floors = {{.service = {0}, .needed = 300, .planned = 401}};
  EXPECT_EQ(
      world.breach(touch()),
      "a: wanted the capacity of its slices, 400 requests per second (a.floor), found that the plan counts on 401");
  world.plan.floors = {{.service = {0}, .needed = -1, .planned = 400}};
  EXPECT_EQ(world.breach(touch()), "a: wanted the needed rate as a finite number, 0 or more (a.floor), found -1");
}

TEST(Constraints, AFloorCountsSlicesThatServeAndStay) {
  struct Case {
    const char* name;
    std::vector<Action> actions;
    double planned;
  };
  PointChoice slow{.variant = 1, .batch = 2, .processes = 1};
  Action assign_slow = give(held(other_g, {{0}}));
  std::get<AssignSlice>(assign_slow.what).point = slow;
  const std::vector<Case> cases = {
      {"as it stands", touch(), 400},
      {"one more", cut_for(two_g, {{0}}), 600},
      {"one gone", {destroy(other_g)}, 100},
      {"one retrains", {give(held(other_g, {{0}}, Role::kRetraining))}, 100},
      {"one is shared", {give(held(other_g, {{0}, {1}}))}, 250},
      {"another point", {assign_slow}, 150},
      {"one that cannot serve", cut_for(slice_at(0, "1g.10gb+me", 1), {{0}}), 400},
  };
  for (const Case& each : cases) {
    ConstrainedWorld world;
    world.a().floor_attainment = Decimal(1);
    world.a().isolation = world.b().isolation = Isolation::kMps;
    Variant variant;
    variant.table.points = {{.gpu = "A100-80GB",
                             .profile = "3g.40gb",
                             .batch = 2,
                             .processes = 1,
                             .requests_per_second = Decimal(50),
                             .latency_ms = Decimal(40)}};
    world.a().variants = {variant};
    world.plan.floors = {{.service = {0}, .needed = each.planned, .planned = each.planned}};
    EXPECT_EQ(world.breach(each.actions), "") << each.name;
    world.plan.floors.front().needed *= 1 + 1e-8;
    EXPECT_NE(world.breach(each.actions), "") << each.name;
  }
}

TEST(Constraints, TheStandingPointCountsUntilAnotherIsAskedFor) {
  ConstrainedWorld world;
  world.a().floor_attainment = Decimal(1);
  world.a().table.points.push_back({.gpu = "A100-80GB",
                                    .profile = "3g.40gb",
                                    .batch = 4,
                                    .processes = 2,
                                    .requests_per_second = Decimal(10),
                                    .latency_ms = Decimal(80)});
  world.snapshot.slices.change(world.snapshot.slices.size() - 1).point =
      PointChoice{.variant = 0, .batch = 4, .processes = 2};
  world.plan.floors = {{.service = {0}, .needed = 0, .planned = 200}};  // 1g at 100, 3g at 1000 x 2 x 4 / 80
  EXPECT_EQ(world.breach(touch()), "");
  world.plan.floors.front().planned = 400;
  EXPECT_EQ(world.breach({create(two_g), give(held(other_g, {{0}}))}), "");
  // A full GPU is slower.
  world.scenario.interference = {Decimal(1), Decimal(2), Decimal(4)};
  world.plan.floors.front().planned = 100;
  EXPECT_EQ(world.breach({create(two_g), give(held(other_g, {{0}}))}), "");
}

/// a needs 900 requests per second, more than GPU 0 can serve next to the pin of b; GPU 1 is locked by a slice that is
/// leaving.
ConstrainedWorld short_world() {
  ConstrainedWorld world;
  world.a().floor_attainment = world.b().floor_attainment = Decimal(1);
  world.b().pins = {{three_g}};
  world.plan.floors = {{.service = {0}, .needed = 900, .planned = 400}, {.service = {1}, .needed = 1, .planned = 300}};
  return world;
}

constexpr const char* kShort = "a: wanted 900 requests per second (a.floor), found slices for 400";
constexpr ConstraintId kFloorOfA = {.service = ServiceId{0}, .kind = ConstraintKind::kFloor};
constexpr ConstraintId kFloorOfB = {.service = ServiceId{1}, .kind = ConstraintKind::kFloor};
constexpr ConstraintId kPinsOfB = {.service = ServiceId{1}, .kind = ConstraintKind::kPins};

TEST(Constraints, AnUnmetFloorNeedsAReason) {
  ConstrainedWorld world = short_world();
  EXPECT_EQ(world.breach(touch()), kShort);
  world.plan.unmet_floors = FloorsNotDecided{};
  EXPECT_EQ(world.breach(touch()), "");
  world.plan.floors.front().planned = 900;  // a wrong figure is refused in any case
  EXPECT_NE(world.breach(touch()), "");
}

TEST(Constraints, AConflictIsOneOfTheScenarioThatThePlanDoesNotRefute) {
  struct Case {
    std::vector<ConstraintId> constraints;
    std::string fault;
  };
  const std::string refuted = "; found a conflict of constraints all of which the plan keeps";
  const std::vector<Case> cases = {
      {{kFloorOfA, kPinsOfB}, ""},
      {{kFloorOfA}, ""},
      {{kPinsOfB}, kShort + refuted},  // no floor among them
      {{}, kShort + refuted},
      {{kFloorOfB, kPinsOfB}, kShort + refuted},  // both are kept
      {{kFloorOfA, {.service = ServiceId{1}, .kind = ConstraintKind::kTrustDomain}},
       std::string(kShort) + "; conflict: wanted constraints of the scenario, found b.trust_domain"},
      {{kFloorOfA, kFrozenConstraint},
       std::string(kShort) + "; conflict: wanted constraints of the scenario, found frozen"},
      {{kFloorOfA, {.service = ServiceId{7}, .kind = ConstraintKind::kFloor}},
       std::string(kShort) + "; conflict: wanted constraints of the scenario, found one of service 7"},
  };
  for (const Case& each : cases) {
    ConstrainedWorld world = short_world();
    world.plan.unmet_floors = ProvenConflict{.constraints = each.constraints};
    EXPECT_EQ(world.breach(touch()), each.fault);
  }
}

TEST(Constraints, AChangeUnderWayIsOneThatTheSnapshotShowsAndEndsInTime) {
  ConstrainedWorld world = short_world();
  // The latest end: 0.5 s to destroy, 0.5 s to create, the longest start, and rounding to a second.
  world.b().start = Micros::seconds(7);
  for (const double seconds : {0.5, 5.0, 9.0}) {
    world.plan.unmet_floors = ChangeUnderWay{.until = kNow + Micros(static_cast<std::int64_t>(seconds * 1e6))};
    EXPECT_EQ(world.breach(touch()), "") << seconds;
  }
  for (const std::int64_t micros : {-1'000'000, 0, 9'000'001}) {
    world.plan.unmet_floors = ChangeUnderWay{.until = kNow + Micros(micros)};
    EXPECT_TRUE(world.breach(touch()).starts_with(std::string(kShort) + "; wanted the end of the changes under way"));
  }
  // Slices of some kind take longer to be destroyed.
  world.scenario.measured_times[{.model = "A100-80GB", .profile = "7g.80gb", .action = ActionKind::kDestruction}] = {
      .median = Micros(2'500'000), .count = 3};
  world.plan.unmet_floors = ChangeUnderWay{.until = kNow + Micros::seconds(11)};
  EXPECT_EQ(world.breach(touch()), "");
  // Nothing is under way.
  world.plan.unmet_floors = ChangeUnderWay{.until = kNow + Micros::seconds(1)};
  erase_if(world.snapshot.slices, [](const StandingSlice& slice) { return slice.is_leaving; });
  world.plan.floors.front().needed = 9000;
  EXPECT_EQ(
      world.breach(touch()),
      "a: wanted 9000 requests per second (a.floor), found slices for 400; found no change under way that the plan "
      "could wait for");
  world.snapshot.slices.change(world.snapshot.slices.size() - 1).is_ready = false;
  EXPECT_EQ(world.breach(touch()), "");
  world.snapshot.slices.change(world.snapshot.slices.size() - 1)
      .holding.services.clear();  // an unowned slice: nothing waits for it
  world.plan.floors.front().planned = 100;
  EXPECT_NE(world.breach(touch()), "");
}

TEST(Constraints, NoReasonHelpsWhereTheCheckerFindsAPlanThatMeetsAllFloors) {
  const std::vector<UnmetFloors> reasons = {ProvenConflict{.constraints = {kFloorOfA}},
                                            ChangeUnderWay{.until = kNow + Micros::seconds(1)}, FloorsNotDecided{}};
  for (const UnmetFloors& reason : reasons) {
    ConstrainedWorld world = short_world();
    world.plan.unmet_floors = reason;
    // 300 of GPU 1, which is locked, and 2g and 1g of GPU 0 next to the pin.
    world.plan.floors.front().needed = 600;
    EXPECT_EQ(
        world.breach(touch()),
        "a: wanted 600 requests per second (a.floor), found slices for 400, though another plan meets all floors");
    // Only a first layout that says "not decided" passes: the fleet would otherwise stay empty.
    ConstrainedWorld first = world;
    first.snapshot.slices.clear();
    first.snapshot.now = Instant();
    first.plan.actions = {create(three_g), give(held(three_g, {{1}}))};
    first.plan.floors = {{.service = {0}, .needed = 600, .planned = 0}, {.service = {1}, .needed = 1, .planned = 300}};
    const bool is_let_through = std::holds_alternative<FloorsNotDecided>(reason);
    EXPECT_EQ(find_breach(first.scenario, first.snapshot, first.plan, Instant()).has_value(), !is_let_through);
    world.plan.floors.front().needed = 701;
    EXPECT_EQ(world.breach(touch()), "");
    // A budget that is spent allows no other plan.
    world.plan.floors.front().needed = 600;
    world.a().changes_per_hour = 0;
    EXPECT_EQ(world.breach(touch()), "");
    // Nor does a neighbour that must be isolated: all of GPU 0 is b's by its pin.
    world.a().changes_per_hour.reset();
    world.b().isolation = Isolation::kGpu;
    world.snapshot.slices.erase(world.snapshot.slices.begin());
    world.plan.floors.front().planned = 300;
    EXPECT_EQ(world.breach(touch()), "");
  }
}

TEST(Constraints, PointsAreMeasuredOnes) {
  ConstrainedWorld world;
  Action assign = give(held(one_g, {{0}}));
  std::get<AssignSlice>(assign.what).point = PointChoice{.variant = 0, .batch = 3, .processes = 2};
  EXPECT_EQ(world.breach({assign}),
            "gpu-0: wanted a measured point of a on 1g.10gb@0, found variant 0, batch 3, processes 2");
  std::get<AssignSlice>(assign.what).point = PointChoice{.variant = 0, .batch = 1, .processes = 1};
  EXPECT_EQ(world.breach({assign}), "");
}

// ---- the engine

Stage asking_for(const std::vector<Action>& actions) {
  return deciding_stage("asks", [actions](const Snapshot&, Plan& plan) -> std::optional<std::string> {
    plan.actions = actions;
    return std::nullopt;
  });
}

TEST(StrictEngine, RefusesWhatOthersMayDo) {
  Scenario scenario = two_gpus();
  scenario.services[1].pins = {{other_g}};
  for (const bool is_strict : {false, true}) {
    Engine engine(scenario, ready_stages({asking_for(cut_for(other_g, {{0}}))}), {.is_strict = is_strict});
    const StepAnswer answer = testing::step_and_solve(engine, Instant());
    EXPECT_EQ(answer.refused.has_value(), is_strict);
    EXPECT_EQ(answer.plan.actions.empty(), is_strict);
    EXPECT_EQ(engine.snapshot().slices.empty(), is_strict);
    if (is_strict) {
      EXPECT_EQ(answer.refused, "gpu-1: wanted 3g.40gb@4 to stay b's own (b.pins), found that the plan gives it to a");
    }
  }
}

TEST(StrictEngine, AsksForLegalityFirst) {
  Scenario scenario = two_gpus();
  scenario.services[1].pins = {{other_g}};
  Engine engine(scenario, ready_stages({asking_for({give(held(other_g, {{0}}))})}), {.is_strict = true});
  EXPECT_EQ(testing::step_and_solve(engine, Instant()).refused, "a slice to assign does not exist");
}

TEST(StrictEngine, RemembersWhatWasChanged) {
  Scenario scenario = two_gpus();
  scenario.planning = Micros::seconds(7);
  scenario.services[0].changes_per_hour = 4;
  std::vector<Action> again = {destroy(one_g), create(one_g), give(held(one_g, {{0}}))};
  const Stage stage = deciding_stage("swaps", [&](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    plan.actions = snapshot.slices.empty() ? cut_for(one_g, {{0}}) : again;
    return std::nullopt;
  });
  Engine engine(scenario, ready_stages({stage}), {.is_strict = true});
  const auto refused_at = [&](std::int64_t second) {
    for (const StandingSlice& standing : engine.snapshot().slices) {
      if (!standing.is_leaving) continue;
      engine.observe({.at = Instant(), .what = SliceGone{.slice = one_g, .generation = standing.generation}});
    }
    const StepAnswer asked = engine.step(Instant::at_second(second));
    engine.observe(testing::answer_to(*asked.request, asked.request->acts_at));
    return engine.step(asked.request->acts_at).refused.has_value();
  };
  EXPECT_FALSE(refused_at(0));  // the first layout is free
  EXPECT_FALSE(refused_at(1));  // takes effect at 8, as all later ones 7 s after they are asked for
  EXPECT_FALSE(refused_at(9));
  EXPECT_TRUE(refused_at(3600));
  EXPECT_FALSE(refused_at(3607));  // those of second 8 are an hour old
  EXPECT_FALSE(refused_at(3614));  // nor those of second 16
  EXPECT_TRUE(refused_at(3621));
}

}  // namespace
}  // namespace berth
