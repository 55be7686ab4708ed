#include "engine/loop/verify.h"

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

/// GPU 0 holds 3g@4, 1g@0 and 2g@2, which is leaving; GPU 1 is empty.
Snapshot standing_snapshot() {
  Snapshot snapshot;
  snapshot.version = 7;
  snapshot.now = Instant::at_second(10);
  snapshot.services.resize(2);
  snapshot.slices = {
      {.holding = held(slice_at(0, "1g.10gb", 0), {{0}}), .is_ready = true, .is_leaving = false},
      {.holding = held(slice_at(0, "2g.20gb", 2), {{1}}), .is_ready = false, .is_leaving = true},
      {.holding = held(slice_at(0, "3g.40gb", 4), {{1}}), .is_ready = true, .is_leaving = false},
  };
  return snapshot;
}

struct Case {
  const char* name;
  std::vector<Action> actions;
  const char* objection;  ///< nullptr: none
};

TEST(Verify, ObjectsToWhatCannotBe) {
  const Slice one = slice_at(0, "1g.10gb", 0);
  const Slice three = slice_at(0, "3g.40gb", 4);
  const Slice leaving = slice_at(0, "2g.20gb", 2);
  const Slice full = slice_at(1, "full", 0);
  Slice no_gpu = one;
  no_gpu.gpu = {2};
  Slice no_profile = one;
  no_profile.profile = {60'000};
  const std::vector<Case> cases = {
      {"nothing", {}, nullptr},
      {"free room", {create(slice_at(0, "1g.10gb", 1)), give(held(slice_at(0, "1g.10gb", 1), {{1}}))}, nullptr},
      {"next to one that goes", {create(leaving)}, nullptr},
      {"overlap", {create(slice_at(0, "2g.20gb", 0))}, "gpu-0: "},
      {"overlap after a destruction", {destroy(one), create(slice_at(0, "2g.20gb", 0))}, nullptr},
      {"an illegal start", {create(slice_at(1, "2g.20gb", 1))}, "gpu-1: "},
      {"exists already", {create(one)}, "1g.10gb@0 on gpu-0 exists already"},
      {"created twice", {create(full), create(full)}, "full@0 on gpu-1 exists already"},
      {"destroyed and created again", {destroy(one), create(one), give(held(one, {{0}}))}, nullptr},
      {"no such GPU", {create(no_gpu)}, "gpu-2 or its profile does not exist"},
      {"no such profile", {create(no_profile)}, "gpu-0 or its profile does not exist"},
      {"destroys what does not exist", {destroy(full)}, "a slice to destroy does not exist"},
      {"destroys what goes", {destroy(leaving)}, "a slice to destroy does not exist"},
      {"destroys twice", {destroy(one), destroy(one)}, "a slice to destroy does not exist"},
      {"assigns what does not exist", {give(held(full, {{0}}))}, "a slice to assign does not exist"},
      {"assigns what goes", {give(held(leaving, {{0}}))}, "a slice to assign does not exist"},
      {"assigns before it creates", {give(held(full, {{0}})), create(full)}, "a slice to assign does not exist"},
      {"unknown service", {give(held(one, {{2}}))}, "service 2 does not exist"},
      {"holders out of order", {give(held(one, {{1}, {0}}))}, "holders are not in order"},
      {"a holder twice", {give(held(one, {{1}, {1}}))}, "holders are not in order"},
      {"two retrain on one", {give(held(one, {{0}, {1}}, Role::kRetraining))}, "a retraining slice has one holder"},
      {"nobody retrains", {give(held(one, {}, Role::kRetraining))}, "a retraining slice has one holder"},
      {"to nobody", {give(held(one, {}))}, nullptr},
      {"full alone", {create(full)}, nullptr},
      {"full not alone",
       {create(full), create(slice_at(1, "1g.10gb", 0))},
       "full@0 on gpu-1 must be the only slice of its GPU, at start 0"},
      {"full next to what stands",
       {create(slice_at(0, "full", 0))},
       "full@0 on gpu-0 must be the only slice of its GPU, at start 0"},
      {"full elsewhere than at 0",
       {create(slice_at(1, "full", 4))},
       "full@4 on gpu-1 must be the only slice of its GPU, at start 0"},
      {"full after the rest", {destroy(one), destroy(three), create(slice_at(0, "full", 0))}, nullptr},
      {"two +me", {create(slice_at(1, "1g.10gb+me", 0)), create(slice_at(1, "1g.10gb+me", 1))}, "gpu-1: "},
  };
  const Scenario scenario = two_gpus();
  for (const Case& each : cases) {
    Plan plan;
    plan.base_version = 7;
    plan.actions = each.actions;
    const auto objection = find_objection(scenario, standing_snapshot(), plan, Instant::at_second(10));
    if (each.objection == nullptr) {
      EXPECT_FALSE(objection.has_value()) << each.name << ": " << objection.value_or("");
    } else {
      ASSERT_TRUE(objection.has_value()) << each.name;
      EXPECT_EQ(objection->substr(0, std::string_view(each.objection).size()), each.objection) << each.name;
    }
  }
}

TEST(Verify, AWholeGpuIsNotUsedWhereMigPartitionsIt) {
  Scenario scenario = two_gpus();
  scenario.fleet[0].model.has_full = false;
  Plan plan;
  plan.actions = {create(slice_at(1, "full", 0))};
  EXPECT_EQ(find_objection(scenario, standing_snapshot(), plan, Instant::at_second(10)),
            "full@0 on gpu-1 cannot be used: MIG partitions the GPU");
}

TEST(Verify, ObjectsToFactsThatDoNotHold) {
  Plan plan;
  const Slice slice = slice_at(0, "1g.10gb", 0);
  plan.facts = {{.gpu = {0}, .slices = {{.slice = slice, .number = 6}}}};
  EXPECT_FALSE(
      find_objection(two_gpus(), standing_snapshot(), plan, Instant()).has_value());  // an empty plan does nothing
  plan.actions = {destroy(slice)};
  EXPECT_EQ(find_objection(two_gpus(), standing_snapshot(), plan, Instant()),
            "1g.10gb@0 on gpu-0 was given to others since");
}

TEST(Verify, SlicesOfOthersAreNeverChangedAndTheirPlaceIsTaken) {
  Snapshot snapshot = standing_snapshot();
  const Slice others = slice_at(0, "1g.10gb", 0);
  snapshot.slices.change(0) = {.holding = held(others, {}), .is_ready = true, .is_foreign = true};
  const auto objection = [&](std::vector<Action> actions) {
    Plan plan;
    plan.actions = std::move(actions);
    return find_objection(two_gpus(), snapshot, plan, snapshot.now).value_or("");
  };
  EXPECT_EQ(objection({destroy(others)}), "1g.10gb@0 on gpu-0 was made by others");
  EXPECT_EQ(objection({give(held(others, {{0}}))}), "1g.10gb@0 on gpu-0 was made by others");
  EXPECT_NE(objection({create(others)}), "");
  EXPECT_NE(objection({create(slice_at(0, "2g.20gb", 0))}), "");
  EXPECT_EQ(objection({create(slice_at(0, "1g.10gb", 1))}), "");
}

TEST(Verify, ObjectsToActionsOnGpusThatAreNotOpen) {
  Snapshot snapshot = standing_snapshot();
  const Slice slice = slice_at(0, "1g.10gb", 0);
  const auto objection = [&](const Action& action) {
    Plan plan;
    plan.actions = {action};
    return find_objection(two_gpus(), snapshot, plan, Instant::at_second(10)).value_or("");
  };
  GpuState& gpu = snapshot.gpus.emplace_back();
  gpu.health = GpuHealth::kLost;
  EXPECT_EQ(objection(destroy(slice)), "gpu-0 is lost");
  gpu.health = GpuHealth::kOk;
  gpu.scheduling = GpuScheduling::kCordoned;
  EXPECT_EQ(objection(destroy(slice)), "gpu-0 is cordoned");
  gpu.scheduling = GpuScheduling::kDraining;
  EXPECT_EQ(objection(destroy(slice)), "");
  EXPECT_EQ(objection(create(slice_at(0, "1g.10gb", 2))), "gpu-0 is draining");
  EXPECT_EQ(objection(create(slice_at(1, "1g.10gb", 2))), "");
}

TEST(Verify, ObjectsToOrdersOfGpusThatCannotBe) {
  Scenario scenario = two_gpus();
  scenario.provision_seconds = 60;
  Snapshot snapshot = standing_snapshot();
  snapshot.gpus.resize(2);
  const auto objection = [&](std::vector<GpuOrder> orders, std::vector<Action> actions = {}) {
    Plan plan;
    plan.gpu_orders = std::move(orders);
    plan.actions = std::move(actions);
    return find_objection(scenario, snapshot, plan, snapshot.now).value_or("");
  };
  const GpuOrder order{.gpu = {1}};
  const GpuOrder release{.gpu = {1}, .is_release = true};
  EXPECT_EQ(objection({release}), "");
  EXPECT_EQ(objection({order}), "gpu-1 is rented already");
  EXPECT_EQ(objection({release, release}), "gpu-1 is ordered or released twice");
  EXPECT_EQ(objection({{.gpu = {2}}}), "gpu-2 does not exist");
  EXPECT_EQ(objection({{.gpu = {0}, .is_release = true}}, {destroy(slice_at(0, "1g.10gb", 0))}), "");
  EXPECT_EQ(objection({release}, {create(slice_at(1, "1g.10gb", 0))}),
            "gpu-1 is ordered or released, and changed by the same plan");
  for (const GpuScheduling scheduling : {GpuScheduling::kAbsent, GpuScheduling::kOrdered}) {
    snapshot.gpus[1].scheduling = scheduling;
    const bool is_absent = scheduling == GpuScheduling::kAbsent;
    EXPECT_EQ(objection({order}), is_absent ? "" : "gpu-1 is rented already");
    EXPECT_EQ(objection({release}), is_absent ? "gpu-1 is not open and cannot be released" : "");
    EXPECT_EQ(objection({}, {create(slice_at(1, "1g.10gb", 0))}),
              is_absent ? "gpu-1 is not rented" : "gpu-1 is ordered and not there yet");
  }
  snapshot.gpus[1].scheduling = GpuScheduling::kDraining;
  EXPECT_EQ(objection({order}), "gpu-1 is rented already");
  EXPECT_EQ(objection({release}), "gpu-1 is not open and cannot be released");
  snapshot.gpus[1].scheduling = GpuScheduling::kAbsent;
  scenario.provision_seconds.reset();
  EXPECT_EQ(objection({order}), "the fleet is constant: no GPU can be ordered or released");
}

TEST(Verify, AnOrderedPlanOnlyTakesOnACordonedGpu) {
  Snapshot snapshot = standing_snapshot();
  const Slice one = slice_at(0, "1g.10gb", 0);
  snapshot.slices.change(0).holding = held(one, {{0}, {1}});
  snapshot.gpus.emplace_back().scheduling = GpuScheduling::kCordoned;
  const auto objection = [&](const Action& action) {
    Plan plan;
    plan.is_ordered = true;
    plan.actions = {action};
    return find_objection(two_gpus(), snapshot, plan, Instant::at_second(10)).value_or("");
  };
  EXPECT_EQ(objection(destroy(one)), "");
  EXPECT_EQ(objection(give(held(one, {{1}}))), "");
  EXPECT_EQ(objection(give(held(one, {{0}, {1}}))), "gpu-0 is cordoned");
  EXPECT_EQ(objection(create(slice_at(0, "1g.10gb", 1))), "gpu-0 is cordoned");
  snapshot.slices.change(0).holding = held(one, {{0}});
  EXPECT_EQ(objection(give(held(one, {{1}}))), "gpu-0 is cordoned") << "a pin, say, decided before the cordon";
}

TEST(Verify, ObjectsToChangesInAFrozenWindow) {
  Scenario scenario = two_gpus();
  scenario.frozen = {{.from = Instant::at_second(20), .until = Instant::at_second(30)}};
  Plan plan;
  plan.base_version = 7;
  plan.actions = {destroy(slice_at(0, "1g.10gb", 0))};
  const auto objection_at = [&](Instant acts_at) {
    return find_objection(scenario, standing_snapshot(), plan, acts_at);
  };
  EXPECT_FALSE(objection_at(Instant::at_second(20) - Micros(1)).has_value());
  EXPECT_EQ(objection_at(Instant::at_second(20)), "a change would begin in a frozen window");
  EXPECT_TRUE(objection_at(Instant::at_second(30) - Micros(1)).has_value());
  EXPECT_FALSE(objection_at(Instant::at_second(30)).has_value());
}

TEST(Verify, OnlyTheFirstLayoutMayBeginInAFrozenWindow) {
  Scenario scenario = two_gpus();
  scenario.frozen = {{.from = Instant(), .until = Instant::at_second(60)}};
  Snapshot empty;
  Plan plan;
  plan.actions = {create(slice_at(0, "1g.10gb", 0))};
  EXPECT_FALSE(find_objection(scenario, empty, plan, Instant()).has_value());
  empty.now = Instant(1);
  EXPECT_TRUE(find_objection(scenario, empty, plan, Instant(1)).has_value());
}

}  // namespace
}  // namespace berth
