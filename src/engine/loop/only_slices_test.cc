#include "engine/loop/only_slices.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/loop/test_fleet.h"
#include "planner/window/window.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;

/// Both services have a warm pool and one slice; a request for the first came two seconds ago.
struct AskedWorld {
  Scenario scenario = testing::two_gpus();
  Snapshot snapshot;

  AskedWorld() {
    scenario.fleet[0].usd_per_gpu_hour = Decimal(4);
    for (std::uint32_t index = 0; index < 2; ++index) scenario.services[index].ready.warm_pool = WarmPool{};
    scenario.services[1].ready.warm_pool->cold_micro_usd = 500'000;
    snapshot.now = Instant::at_second(100);
    snapshot.has_first_layout = true;
    snapshot.services.resize(2);
    ask(0, 98);
    snapshot.slices = {{.holding = held(slice_at(0, "1g.10gb", 0), {{0}}), .is_ready = true},
                       {.holding = held(slice_at(1, "2g.20gb", 2), {{1}}), .is_ready = true}};
  }
  void ask(std::uint32_t service, std::int64_t second) {
    ServiceSecond seen;
    seen.service = {service};
    seen.second = second;
    seen.arrivals = 1;
    snapshot.services[service].seconds.push_back(seen);
  }
  [[nodiscard]] planner::Problem problem() const {
    const planner::Frame frame = planner::make_frame(scenario, {.chooses_points = true, .has_variants = false});
    planner::Moment moment;
    moment.begins = snapshot.now;
    moment.slots = 10;
    moment.samples = 1;
    for (const StandingSlice& standing : snapshot.slices) {
      moment.standing.push_back({.holding = standing.holding, .use = 0, .ready_in = Micros()});
    }
    moment.retraining.resize(2);
    for (int service = 0; service < 2; ++service) moment.outlooks.emplace_back().loads.assign(11, 1);
    return planner::make_problem(scenario, frame, moment);
  }
  [[nodiscard]] std::vector<OnlySlice> only() const { return only_slices(scenario, snapshot, problem()); }
  [[nodiscard]] std::vector<int> owners() const {
    std::vector<int> owners;
    for (const OnlySlice& each : only()) owners.push_back(each.site.service);
    return owners;
  }
};

using Owners = std::vector<int>;

TEST(OnlySlices, AreThoseOfServicesThatAreAsked) {
  AskedWorld world;
  EXPECT_EQ(world.owners(), Owners({0}));
  world.ask(1, 60);
  EXPECT_EQ(world.owners(), Owners({0})) << "long ago";
  world.ask(1, 99);
  EXPECT_EQ(world.owners(), Owners({0, 1}));
  world.scenario.services[0].ready.warm_pool.reset();
  EXPECT_EQ(world.owners(), Owners({1}));
}

TEST(OnlySlices, AreReadyAndNoneIsNextToThem) {
  AskedWorld world;
  world.snapshot.slices.push_back({.holding = held(slice_at(1, "1g.10gb", 0), {{0}}), .is_ready = false});
  EXPECT_EQ(world.owners(), Owners({0})) << "the second is not ready yet";
  world.snapshot.slices.push_back({.holding = held(slice_at(1, "1g.10gb", 1), {{0}}), .is_ready = true});
  EXPECT_EQ(world.owners(), Owners());
  AskedWorld starting;
  starting.snapshot.slices = {{.holding = held(slice_at(0, "1g.10gb", 0), {{0}}), .is_ready = false}};
  EXPECT_EQ(starting.owners(), Owners());
}

TEST(OnlySlices, CostWhatAColdStartCosts) {
  AskedWorld world;
  world.ask(1, 99);
  const std::vector<OnlySlice> only = world.only();
  ASSERT_EQ(only.size(), 2U);
  EXPECT_DOUBLE_EQ(only[0].cold_gpu_seconds, 30 * 60.0 / 8) << "30 minutes of an eighth";
  EXPECT_DOUBLE_EQ(only[1].cold_gpu_seconds, 450) << "half a dollar at four dollars per hour";
}

TEST(OnlySlices, AreLostWhereTheFirstChangeLeavesThemOut) {
  AskedWorld world;
  world.ask(1, 99);
  const planner::Problem problem = world.problem();
  const std::vector<OnlySlice> only = world.only();
  planner::Schedule schedule{.gpus = std::vector<std::vector<planner::Change>>(2)};
  EXPECT_TRUE(lost_slices(only, schedule).empty());
  schedule.gpus[0] = {{.slot = planner::SlotIndex(3), .to = {}}};
  EXPECT_TRUE(lost_slices(only, schedule).empty()) << "later plans decide that";
  schedule.gpus[0][0].slot = planner::SlotIndex(0);
  schedule.gpus[1] = {{.slot = planner::SlotIndex(0), .to = {problem.gpus[1].standing.front().piece}}};
  const std::vector<OnlySlice> lost = lost_slices(only, schedule);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].gpu, planner::GpuIndex(0));
  const planner::Problem kept = with_slices_kept(problem, only);
  ASSERT_EQ(kept.gpus[0].pins.size(), 1U);
  EXPECT_EQ(kept.gpus[0].pins[0].service, planner::ServiceIndex(0));
  EXPECT_EQ(kept.gpus[0].pins[0].site, problem.gpus[0].standing.front().piece.site);
}

}  // namespace
}  // namespace berth
