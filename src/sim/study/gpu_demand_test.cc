#include "engine/elastic/gpu_demand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/elastic/capacity_packing.h"
#include "engine/elastic/fleet_stage.h"
#include "engine/loop/drain_stage.h"
#include "engine/loop/outlook.h"
#include "engine/loop/planner_policy.h"
#include "sim/world/run.h"
#include "sim/world/testing/scenarios.h"

namespace berth::elastic {
namespace {

using sim::testing::counted;
using sim::testing::Row;
using sim::testing::scenario_of;
using sim::testing::service_of;

/// A whole GPU answers 100 requests per second of each service; nothing smaller serves.
Scenario whole_gpus_only(std::size_t services, std::int64_t history_seconds, const std::vector<std::uint32_t>& counts) {
  std::vector<ServiceSpec> specs;
  for (std::size_t index = 0; index < services; ++index) {
    Arrivals arrivals = counted(counts);
    arrivals.from_second = history_seconds;
    arrivals.seconds = static_cast<std::int64_t>(counts.size()) - history_seconds;
    specs.push_back(
        service_of("s" + std::to_string(index), {{.profile = "full", .batch = 4, .latency_ms = 40}}, arrivals));
  }
  Scenario scenario = scenario_of(std::move(specs), {}, 12);
  scenario.layout.reset();
  scenario.fidelity = Fidelity::kRates;
  scenario.provision_seconds = 30;
  scenario.history_seconds = history_seconds;
  return scenario;
}

/// Seconds [from, to) with that many requests, all in time.
void see(GpuDemandWatch& watch, const Scenario& scenario, std::int64_t from, std::int64_t to, std::int64_t requests) {
  Snapshot snapshot;
  snapshot.services.resize(scenario.services.size());
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    for (std::int64_t second = from; second < to; ++second) {
      snapshot.services[index].seconds.push_back(
          {.service = {index}, .second = second, .arrivals = requests, .in_time = second < 0 ? 0 : requests});
    }
  }
  watch.observe(snapshot);
}

TEST(CapacityPacking, CountsOnThePointsThatPlansChoose) {
  // A batch of 20 takes longer than 0.45 of the target, and half of it, out of step, still less than the target.
  const std::vector<Row> rows = {{.profile = "full", .batch = 4, .latency_ms = 20},
                                 {.profile = "full", .batch = 20, .latency_ms = 50}};
  Scenario scenario = scenario_of({service_of("a", rows, counted({1}))}, {}, 1);
  ServiceSpec spec = std::as_const(scenario.services)[0];
  spec.batching = {};
  scenario.services.set(0, spec);
  EXPECT_NEAR(CapacityPacking(scenario, SlicePoints::kDefault).gpu_capacity({0}), 200, 0.1);
  CapacityPacking planned(scenario, SlicePoints::kPlanned);
  EXPECT_NEAR(planned.gpu_capacity({0}), 400, 0.1);
  EXPECT_EQ(planned.pack({400}).gpus, 1);
  EXPECT_EQ(planned.pack({410}).gpus, 2);
}

TEST(GpuDemand, IsAboutTheLoadWhereTheLoadIsConstant) {
  const std::vector<std::uint32_t> counts(1'200, 150);
  const Scenario scenario = whole_gpus_only(2, 600, counts);
  EXPECT_TRUE(GpuDemandWatch::has_history(scenario));
  GpuDemandWatch watch(scenario, Decimal(99, 100), ready_seconds(scenario), 0);
  see(watch, scenario, -600, 0, 150);
  see(watch, scenario, 0, 300, 150);
  const GpuDemand demand = watch.demand();
  EXPECT_NEAR(demand.forecast_gpus, 3, 0.01);
  EXPECT_GE(demand.work_gpus, 3);
  EXPECT_GE(demand.gpus, 4) << "1.5 GPUs for each of two services";
  EXPECT_LE(demand.gpus, 6);
}

TEST(GpuDemand, WithoutAHistoryTheFleetStaysUntilSomethingIsKnown) {
  const std::vector<std::uint32_t> counts(600, 100);
  const Scenario scenario = whole_gpus_only(1, 0, counts);
  EXPECT_FALSE(GpuDemandWatch::has_history(scenario));
  GpuDemandWatch watch(scenario, Decimal(99, 100), ready_seconds(scenario), 5);
  EXPECT_EQ(watch.demand().gpus, 5);
  see(watch, scenario, 0, 10, 100);
  EXPECT_EQ(watch.demand().gpus, 5);
  see(watch, scenario, 10, 300, 100);
  EXPECT_LT(watch.demand().gpus, 5);
}

TEST(GpuDemand, MissesOfOneServiceMakeItLarger) {
  std::vector<std::uint32_t> counts(3'000, 100);
  for (std::size_t second = 0; second < counts.size(); second += 300) counts[second] = 300;
  const Scenario scenario = whole_gpus_only(2, 0, counts);
  const auto demand_after = [&](std::int64_t missed) {
    GpuDemandWatch watch(scenario, Decimal(99, 100), ready_seconds(scenario), 3);
    Snapshot snapshot;
    snapshot.services.resize(2);
    for (std::uint32_t index = 0; index < 2; ++index) {
      for (std::int64_t second = 0; second < 2'000; ++second) {
        const std::int64_t arrivals = counts[static_cast<std::size_t>(second)];
        const std::int64_t dropped = index == 0 ? missed : 0;
        snapshot.services[index].seconds.push_back({.service = {index},
                                                    .second = second,
                                                    .arrivals = arrivals,
                                                    .in_time = arrivals - dropped,
                                                    .dropped = dropped});
      }
    }
    watch.observe(snapshot);
    return watch.demand().work_gpus;
  };
  EXPECT_GT(demand_after(10), demand_after(0));
}

/// GPUs over time, by second of the change. The attainment is low: requests missed at a jump need not be made up for.
std::vector<std::pair<std::int64_t, std::int64_t>> fleet_over_time(const Scenario& scenario, std::int64_t at_start) {
  sim::RunOptions options;
  options.loop.world.gpus_at_start = static_cast<std::uint32_t>(at_start);
  const auto outcome = sim::run_scenario(scenario,
                                         {fleet_stage(scenario, Decimal(1, 2), at_start),
                                          planner_stage(scenario, forecast_outlook(scenario), PlannerOptions()),
                                          drain_stage(scenario, /*has_planner=*/true)},
                                         options);
  EXPECT_TRUE(outcome.has_value() && !outcome->infeasible);
  EXPECT_EQ(outcome->refusals.count, 0) << outcome->refusals.first;
  std::vector<std::pair<std::int64_t, std::int64_t>> counts;
  for (const sim::RentedCount& count : outcome->world->rented().counts()) {
    counts.emplace_back(count.from.micros() / kMicrosPerSecond, count.gpus);
  }
  return counts;
}

TEST(FleetStage, FollowsALoadThatRisesAndFalls) {
  std::vector<std::uint32_t> counts(600, 90);
  counts.insert(counts.end(), 300, 390);
  counts.insert(counts.end(), 900, 90);
  const Scenario scenario = whole_gpus_only(1, 300, counts);
  const auto over_time = fleet_over_time(scenario, 2);
  std::int64_t most = 0;
  for (const auto& [second, gpus] : over_time) {
    most = std::max(most, gpus);
    EXPECT_TRUE(gpus < 4 || second >= 300) << gpus << " before the load rises";
  }
  EXPECT_GE(most, 4);
  EXPECT_LT(over_time.back().second, most) << "what is not needed any more is given back";
}

}  // namespace
}  // namespace berth::elastic
