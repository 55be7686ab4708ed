#include "sim/measure/timeline.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the vocabulary of scenarios

/// A 1g answers 100 requests per second at its default point, 300 at batch 6, 400 at batch 8.
Scenario service_with_points() {
  ServiceSpec service =
      service_of("a", {{.batch = 1, .latency_ms = 10}, {.batch = 6, .latency_ms = 20}, {.batch = 8, .latency_ms = 20}},
                 counted(std::vector<std::uint32_t>(40, 200)));
  service.batching.slo_factor = Decimal(15, 100);  // only latencies below 15 ms by default
  return scenario_of({service}, {holding_of(slice_at(0, "1g.10gb", 0), {0})});
}

std::vector<double> capacities(const std::vector<sim::JournalRecord>& journal) {
  const Scenario scenario = service_with_points();
  TimelineBuilder builder(scenario, Sharing::kTimeSlices);
  for (const sim::JournalRecord& record : journal) builder.add(record);
  return builder.finish().services.front().capacity_per_second;
}

TEST(Timeline, CapacityIsThatOfTheDefaultPointUntilAnotherIsChosen) {
  const Scenario scenario = service_with_points();
  const Slice slice = slice_at(0, "1g.10gb", 0);
  const auto assigned = [&](int batch) {
    return assign(holding_of(slice, {0}), PointChoice{.variant = 0, .batch = batch, .processes = 1});
  };
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(scripted({{10, {assigned(6)}}, {20, {assigned(8)}}, {30, {assign(holding_of(slice, {0}))}}}));
  const Ran ran = run(scenario, std::move(stages));
  const std::vector<double> capacity = capacities(ran.journal);
  ASSERT_EQ(capacity.size(), 40U);
  for (const auto& [second, wanted] : std::vector<std::pair<std::size_t, double>>{
           {0, 100}, {8, 100}, {13, 300}, {18, 300}, {23, 400}, {28, 400}, {33, 100}, {38, 100}}) {
    EXPECT_DOUBLE_EQ(capacity[second], wanted) << "second " << second;
  }
}

TEST(Timeline, ASliceThatDrainedIsAtItsDefaultPointAgain) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  const auto at = [](std::int64_t second) { return Instant::at_second(second); };
  const auto event = [&](std::int64_t second, world::SliceEvent what) {
    return world::SliceRecord{.at = at(second), .event = what, .slice = slice, .services = {{0}}};
  };
  const std::vector<double> capacity = capacities(
      {event(0, world::SliceEvent::kCreated),
       world::PointRecord{.at = at(0), .slice = slice, .point = PointChoice{.variant = 0, .batch = 8, .processes = 1}},
       event(0, world::SliceEvent::kServing), event(10, world::SliceEvent::kDraining),
       event(20, world::SliceEvent::kServing)});
  EXPECT_DOUBLE_EQ(capacity[9], 400);
  EXPECT_DOUBLE_EQ(capacity[15], 0);
  EXPECT_DOUBLE_EQ(capacity[20], 100);
}

}  // namespace
}  // namespace berth::measure
