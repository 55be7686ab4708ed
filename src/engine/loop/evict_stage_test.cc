#include "engine/loop/evict_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;
using testing::two_gpus;

using Changes = std::vector<SliceChange>;

const Slice here = slice_at(0, "2g.20gb", 0);
const Slice beside = slice_at(0, "2g.20gb", 2);
const Slice one_g_elsewhere = slice_at(1, "1g.10gb", 0);

/// Two GPUs and the services a and b, of which `a` was set at second 10.
struct EvictWorld {
  EvictWorld() {
    snapshot.now = Instant::at_second(11);
    snapshot.services.resize(2);
    snapshot.has_first_layout = true;
    revise(0, 1);
  }
  void revise(std::uint32_t service, std::uint64_t revision) {
    snapshot.services[service].revision = revision;
    snapshot.services[service].revised_at = Instant::at_second(10);
    ++snapshot.specs_version;
  }
  void stands(const Slice& slice, std::vector<ServiceId> services, Role role = Role::kInference) {
    slices.push_back({.holding = held(slice, std::move(services), role), .is_ready = true});
    std::ranges::sort(slices, {}, [](const StandingSlice& each) { return each.holding.slice; });
    snapshot.slices = slices;
    ++snapshot.layout_version;
  }
  [[nodiscard]] Plan plan() const {
    Plan plan;
    EXPECT_FALSE(testing::decide(stage, snapshot, plan));
    return plan;
  }
  [[nodiscard]] Changes changes() const {
    Changes changes;
    for (const Action& action : plan().actions) changes.push_back(action.what);
    return changes;
  }
  /// No point of the service is quick enough on this profile any more.
  void slow_down(std::uint32_t service, const std::string& profile) {
    for (PerformancePoint& point : scenario.services[service].table.points) {
      if (point.profile == profile) point.latency_ms = Decimal(1'000);
    }
  }
  ServiceSpec& spec(std::uint32_t service) { return scenario.services[service]; }

  Scenario scenario = two_gpus();
  Stage stage = evict_stage(scenario);
  Snapshot snapshot;
  std::vector<StandingSlice> slices;
};

// ---- slices that cannot serve

TEST(EvictStage, LeavesWhatServes) {
  EvictWorld world;
  world.stands(here, {{0}});
  world.stands(beside, {{1}});
  EXPECT_TRUE(world.changes().empty());
}

TEST(EvictStage, AServiceThatFitsNowhereLosesItsSlicesAtOnce) {
  EvictWorld world;
  world.spec(0).target_ms = Decimal(1);
  world.stands(here, {{0}});
  world.stands(beside, {{1}});
  world.stands(one_g_elsewhere, {{0}});
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{here}, DestroySlice{one_g_elsewhere}}));
  EXPECT_TRUE(world.plan().is_ordered);
  EXPECT_EQ(world.plan().actions[0].reason.text, "2g.20gb on A100-80GB cannot serve a any more");
}

TEST(EvictStage, WhileOtherSlicesCouldServeItAUselessOneGoesAfterAMinute) {
  EvictWorld world;
  world.slow_down(0, "1g.10gb");
  world.stands(here, {{0}});
  world.stands(one_g_elsewhere, {{0}});
  EXPECT_TRUE(world.changes().empty());
  world.snapshot.now = Instant::at_second(70) + Micros(-1);
  EXPECT_TRUE(world.changes().empty());
  world.snapshot.now = Instant::at_second(70);
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{one_g_elsewhere}}))
      << "though neither the layout nor a spec changed";
}

TEST(EvictStage, AVariantThatServesIsEnough) {
  EvictWorld world;
  world.spec(0).variants = {{.name = "int8", .table = world.spec(0).table, .accuracy = {}}};
  for (const char* profile : {"1g.10gb", "2g.20gb", "3g.40gb"}) world.slow_down(0, profile);
  world.stands(here, {{0}});
  EXPECT_TRUE(world.changes().empty());
}

TEST(EvictStage, WhatNobodyElseWroteStays) {
  EvictWorld world;
  world.revise(0, 0);  // as in the file
  world.spec(0).target_ms = Decimal(1);
  world.stands(here, {{0}});
  EXPECT_TRUE(world.changes().empty());
}

TEST(EvictStage, RetrainingSlicesAndPinnedOnesStay) {
  EvictWorld world;
  world.spec(0).target_ms = Decimal(1);
  world.spec(0).pins = {{.slice = beside}};
  world.stands(here, {{0}}, Role::kRetraining);
  world.stands(beside, {{0}});
  EXPECT_TRUE(world.changes().empty());
}

TEST(EvictStage, OthersKeepASliceThatTheyShare) {
  EvictWorld world;
  world.spec(0).target_ms = Decimal(1);
  world.stands(here, {{0}, {1}});
  EXPECT_EQ(world.changes(), (Changes{AssignSlice{.holding = held(here, {{1}}), .point = std::nullopt}}));
}

// ---- neighbours

TEST(EvictStage, WhoWasSetLastGivesWay) {
  EvictWorld world;
  world.spec(0).isolation = Isolation::kGpu;
  world.stands(here, {{0}});
  world.stands(beside, {{1}});
  world.stands(one_g_elsewhere, {{0}});
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{here}}));
  EXPECT_EQ(world.plan().actions[0].reason.text, "a and b may not share a GPU");
  world.revise(1, 2);
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{beside}}));
}

TEST(EvictStage, TrustDomainsPartServicesToo) {
  EvictWorld world;
  world.spec(0).trust_domain = "x";
  world.stands(here, {{0}});
  world.stands(beside, {{1}}, Role::kRetraining);
  EXPECT_EQ(world.changes(), (Changes{DestroySlice{here}}));
  world.spec(1).trust_domain = "x";
  EXPECT_TRUE(world.changes().empty());
}

TEST(EvictStage, WhatTheFileStatesIsNotItsConcern) {
  EvictWorld world;
  world.revise(0, 0);
  world.spec(0).isolation = Isolation::kGpu;
  world.stands(here, {{0}});
  world.stands(beside, {{1}});
  EXPECT_TRUE(world.changes().empty());
}

// ---- when

TEST(EvictStage, AFrozenWindowHoldsItBack) {
  EvictWorld world;
  world.spec(0).target_ms = Decimal(1);
  world.scenario.frozen = {{.from = Instant::at_second(10), .until = Instant::at_second(20)}};
  world.stands(here, {{0}});
  EXPECT_TRUE(world.changes().empty());
  world.snapshot.now = Instant::at_second(20);
  EXPECT_EQ(world.changes().size(), 1U);
}

TEST(EvictStage, ASliceThatAnEarlierStageChangesIsLeftToIt) {
  EvictWorld world;
  world.spec(0).target_ms = Decimal(1);
  world.stands(here, {{0}});
  Plan plan;
  plan.actions = {testing::destroy(here)};
  EXPECT_FALSE(testing::decide(world.stage, world.snapshot, plan));
  EXPECT_EQ(plan.actions.size(), 1U);
}

}  // namespace
}  // namespace berth
