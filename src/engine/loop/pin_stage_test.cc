#include "engine/loop/pin_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;
using testing::two_gpus;

using Changes = std::vector<SliceChange>;

const Slice the_pin = slice_at(1, "2g.20gb", 2);
const Instant at_seven = Instant::at_second(7);

AssignSlice to_owner(Role role = Role::kInference) {
  return {.holding = held(the_pin, {{0}}, role), .point = std::nullopt};
}

/// Two GPUs and two services, of which the first one has a pin on the second GPU.
struct PinWorld {
  PinWorld() {
    scenario.services[0].pins = {{.slice = the_pin}};
    snapshot.now = at_seven;
    snapshot.services.resize(2);
  }
  void stands(const Slice& slice, std::vector<ServiceId> services, bool is_foreign = false) {
    slices.push_back({.holding = held(slice, std::move(services)), .is_ready = true, .is_foreign = is_foreign});
    std::ranges::sort(slices, {}, [](const StandingSlice& each) { return each.holding.slice; });
    snapshot.slices = slices;
  }
  [[nodiscard]] Plan plan() const {
    Plan plan;
    EXPECT_FALSE(testing::decide(pin_stage(scenario), snapshot, plan));
    return plan;
  }
  [[nodiscard]] Changes changes() const {
    Changes changes;
    for (const Action& action : plan().actions) changes.push_back(action.what);
    return changes;
  }

  Scenario scenario = two_gpus();
  Snapshot snapshot;
  std::vector<StandingSlice> slices;
};

TEST(PinStage, MakesAPinThatIsMissing) {
  PinWorld world;
  world.stands(slice_at(1, "1g.10gb", 0), {{1}});
  EXPECT_EQ(world.changes(), (Changes{CreateSlice{the_pin}, to_owner()}));
  EXPECT_TRUE(world.plan().is_ordered);
  EXPECT_EQ(world.plan().actions[0].reason.text, "gpu-1 has a slice that is pinned to a");
}

TEST(PinStage, LeavesAPinAloneThatItsOwnerHolds) {
  PinWorld world;
  world.stands(the_pin, {{0}});
  EXPECT_TRUE(world.changes().empty());
  world.slices[0].holding.role = Role::kRetraining;
  world.snapshot.slices = world.slices;
  EXPECT_TRUE(world.changes().empty());
}

TEST(PinStage, DestroysWhatIsInTheWay) {
  PinWorld world;
  const Slice overlaps = slice_at(1, "1g.10gb", 3);
  world.stands(overlaps, {{1}});
  world.stands(slice_at(1, "3g.40gb", 4), {{1}});
  world.stands(slice_at(0, "2g.20gb", 2), {{1}});  // the same place of another GPU
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{overlaps}, CreateSlice{the_pin}, to_owner()}));
}

TEST(PinStage, TakesThePlaceFromAnotherHolder) {
  PinWorld world;
  world.stands(the_pin, {{1}});
  EXPECT_EQ(world.changes(), (Changes{to_owner()}));
  world.slices[0].holding.services.clear();
  world.snapshot.slices = world.slices;
  EXPECT_EQ(world.changes(), (Changes{to_owner()}));
}

TEST(PinStage, ClearsTheGpuForAnOwnerThatIsAlone) {
  PinWorld world;
  world.scenario.services[0].isolation = Isolation::kGpu;
  const Slice other = slice_at(1, "3g.40gb", 4);
  world.stands(other, {{1}});
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{other}, CreateSlice{the_pin}, to_owner()}));
}

TEST(PinStage, ClearsTheGpuOfOtherTrustDomains) {
  PinWorld world;
  world.scenario.services[0].trust_domain = "blue";
  const Slice other = slice_at(1, "3g.40gb", 4);
  world.stands(other, {{1}});
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{other}, CreateSlice{the_pin}, to_owner()}));
  world.scenario.services[1].trust_domain = "blue";
  EXPECT_EQ(world.changes(), (Changes{CreateSlice{the_pin}, to_owner()}));
}

TEST(PinStage, WaitsForSlicesThatItMustNotTouch) {
  PinWorld pinned;
  const Slice overlaps = slice_at(1, "1g.10gb", 3);
  pinned.stands(overlaps, {{1}});
  pinned.scenario.services[1].pins = {{.slice = overlaps}};
  EXPECT_TRUE(pinned.changes().empty());
  PinWorld foreign;
  foreign.stands(overlaps, {}, true);
  EXPECT_TRUE(foreign.changes().empty());
}

TEST(PinStage, WaitsForTheGpuAndTheWindow) {
  PinWorld world;
  world.snapshot.gpus.resize(2);
  world.snapshot.gpus[1].health = GpuHealth::kLost;
  EXPECT_TRUE(world.changes().empty());
  world.snapshot.gpus[1].health = GpuHealth::kOk;
  world.snapshot.gpus[1].failures = {.count = 1, .latest = at_seven - Micros(1)};
  EXPECT_TRUE(world.changes().empty());
  world.snapshot.gpus[1].failures = {};
  EXPECT_FALSE(world.changes().empty());
  world.scenario.frozen = {{.from = Instant::at_second(5), .until = Instant::at_second(15)}};
  EXPECT_TRUE(world.changes().empty());
}

TEST(PinStage, APointWithinTheTargetIsEnough) {
  PinWorld world;
  world.scenario.services[0].target_ms = Decimal(6);  // 5 ms is no default point: above 0.45 x 6
  AssignSlice assign = to_owner();
  assign.point = PointChoice{.variant = 0, .batch = 1, .processes = 1};
  EXPECT_EQ(world.changes(), (Changes{CreateSlice{the_pin}, assign}));
}

TEST(PinStage, AHeldSliceGetsAPointThatKeepsANewTarget) {
  PinWorld world;
  world.stands(the_pin, {{0}});
  world.scenario.services[0].target_ms = Decimal(6);
  EXPECT_TRUE(world.changes().empty()) << "a file's service was not set";
  world.snapshot.services[0].revision = 1;
  AssignSlice assign = to_owner();
  assign.point = PointChoice{.variant = 0, .batch = 1, .processes = 1};
  EXPECT_EQ(world.changes(), Changes{assign});
  world.slices[0].point = assign.point;
  world.snapshot.slices = world.slices;
  EXPECT_TRUE(world.changes().empty());
  world.scenario.services[0].target_ms = Decimal(1);
  EXPECT_TRUE(world.changes().empty()) << "there is no better one";
}

TEST(PinStage, AnOwnerThatRetrainsNoMoreServes) {
  PinWorld world;
  world.stands(the_pin, {{0}});
  world.slices[0].holding.role = Role::kRetraining;
  world.snapshot.slices = world.slices;
  world.snapshot.services[0].revision = 1;
  EXPECT_EQ(world.changes(), Changes{to_owner()});
  world.scenario.services[0].retraining = Retraining{};
  EXPECT_TRUE(world.changes().empty());
}

TEST(PinStage, AnOwnerThatCannotServeThereRetrains) {
  PinWorld world;
  world.scenario.services[0].table.points.clear();
  EXPECT_TRUE(world.changes().empty());
  world.scenario.services[0].retraining = Retraining{};
  world.scenario.services[0].retraining->time_on = {{2, Micros::seconds(10)}};
  EXPECT_EQ(world.changes(), (Changes{CreateSlice{the_pin}, to_owner(Role::kRetraining)}));
}

TEST(PinStage, AnAbsentServicePinsNothing) {
  PinWorld world;
  world.scenario.services.set(0, absent_service(std::as_const(world.scenario.services)[0]));
  EXPECT_TRUE(world.changes().empty());
}

}  // namespace
}  // namespace berth
