#include "sim/measure/warm_meter.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using testing::counted;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

/// A GPU at $8 per hour, and a service with a pool; 3,600 seconds.
Scenario with_pool() {
  Scenario scenario = scenario_of({service_of("s", {{.batch = 1, .latency_ms = 10}}, counted({1}))}, {});
  scenario.fleet[0].usd_per_gpu_hour = Decimal(8);
  scenario.services[0].arrivals.seconds = 3600;
  scenario.services[0].ready.warm_pool = WarmPool();
  return scenario;
}

world::SliceRecord slice_event(std::int64_t second, world::SliceEvent event) {
  return {.at = Instant::at_second(second), .event = event, .slice = slice_at(0, "1g.10gb", 0), .services = {{0}}};
}

sim::SecondRecord requests(std::int64_t second, std::int64_t count, std::int64_t settled_at) {
  sim::SecondRecord record;
  record.requests = count;
  record.service = {0};
  record.second = second;
  record.at = Instant::at_second(settled_at);
  return record;
}

PolicyResult measured(const Scenario& scenario, const std::vector<sim::JournalRecord>& journal) {
  WarmMeter meter(scenario);
  PolicyResult result;
  result.services.resize(scenario.services.size());
  for (const sim::JournalRecord& record : journal) meter.add(record);
  meter.finish_into(result);
  return result;
}

TEST(WarmMeter, RequestsOfSecondsWithoutASliceAreCold) {
  using world::SliceEvent;
  const PolicyResult result = measured(
      with_pool(), {requests(0, 5, 10), slice_event(7, SliceEvent::kCreated), slice_event(9, SliceEvent::kServing),
                    requests(8, 2, 10), requests(9, 3, 11), slice_event(20, SliceEvent::kDraining),
                    slice_event(21, SliceEvent::kDestroyed), requests(30, 4, 40)});
  EXPECT_EQ(result.figures.cold_requests, 5 + 2 + 4);
  EXPECT_EQ(result.services[0].figures.cold_requests, 11);
}

TEST(WarmMeter, ASliceCostsItsUnitsWhileThereIsNoLoad) {
  using world::SliceEvent;
  // Created at 100, load from 200 to 230, gone at 1100: 1000 - 30 s of $1 per hour.
  const PolicyResult result =
      measured(with_pool(),
               {slice_event(100, SliceEvent::kCreated), slice_event(105, SliceEvent::kServing), requests(200, 1, 203),
                requests(203, 1, 230), requests(204, 1, 220), slice_event(1100, SliceEvent::kDestroyed)});
  EXPECT_EQ(result.figures.idle_micro_usd, 1'000'000 * 970 / 3600);
}

TEST(WarmMeter, WhatStandsAtTheEndIsIdleUntilThen) {
  using world::SliceEvent;
  const PolicyResult result = measured(with_pool(), {slice_event(0, SliceEvent::kServing), requests(1800, 1, 1801)});
  EXPECT_EQ(result.figures.idle_micro_usd, 1'000'000 * 3599LL / 3600);
}

TEST(WarmMeter, WithoutAPoolThereAreNoFigures) {
  Scenario scenario = with_pool();
  scenario.services[0].ready.warm_pool.reset();
  const PolicyResult result = measured(scenario, {requests(0, 5, 10)});
  EXPECT_FALSE(result.figures.cold_requests);
  EXPECT_FALSE(result.services[0].figures.idle_micro_usd);
}

}  // namespace
}  // namespace berth::measure
