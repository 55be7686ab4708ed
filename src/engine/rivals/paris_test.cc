#include <gtest/gtest.h>

#include <vector>

#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/knee.h"
#include "engine/rivals/detail/test_scenario.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using testing::service_with;
using testing::show;

PerformancePoint point(const std::string& profile, int batch, int processes, std::int64_t rate,
                       std::int64_t latency_ms) {
  return {"A30-24GB", profile, batch, processes, Decimal(rate), Decimal(latency_ms)};
}

/// Small batches are best on 1g, large ones run on 4g only.
ServiceSpec knee_service(const std::string& name) {
  ServiceSpec service = service_with(name, {});
  service.table.points = {
      point("1g.6gb", 1, 1, 100, 10),  point("1g.6gb", 1, 2, 110, 15),   point("1g.6gb", 8, 1, 150, 50),
      point("2g.12gb", 1, 1, 150, 5),  point("2g.12gb", 4, 1, 300, 20),  point("4g.24gb", 1, 1, 200, 5),
      point("4g.24gb", 4, 1, 500, 10), point("4g.24gb", 16, 1, 900, 40), point("4g.24gb", 16, 4, 950, 40)};
  return service;
}

TEST(Knee, ChoosesMostThroughputPerSm) {
  const Scenario scenario = scenario_of({gpus("A30", 1)}, {knee_service("a")});
  const detail::FleetView fleet = detail::view_fleet(scenario);
  const detail::ModelView& view = fleet.models.front();
  const detail::KneeTable table(scenario.services.front(), view);
  // 50 ms is not below 45 ms: 1g has no batch of 8. Four processes are too many.
  EXPECT_EQ(table.batch_max(), 16);
  const auto knee = [&](int batch) { return *table.knee(batch); };
  EXPECT_EQ(view.map.kinds[knee(1).kind].profile, *mig::find_profile(*view.model, "1g.6gb"));
  EXPECT_EQ(knee(1).requests_per_second, Decimal(110));
  EXPECT_EQ(view.map.kinds[knee(2).kind].profile, *mig::find_profile(*view.model, "2g.12gb"));
  EXPECT_EQ(view.map.kinds[knee(5).kind].profile, *mig::find_profile(*view.model, "4g.24gb"));
  EXPECT_EQ(knee(5).requests_per_second, Decimal(900));
  EXPECT_EQ(knee(500), knee(16));
}

TEST(Knee, CountsBatchesThatFormWhileRequestsMay) {
  const Scenario scenario = scenario_of({gpus("A30", 1)}, {knee_service("a")});
  // `full` has the rows of 4g.24gb and as many SMs: 100 ms less the 40 ms of its default point.
  const Decimal slack = detail::slack_ms(detail::view_fleet(scenario), 0);
  EXPECT_EQ(slack, Decimal(60));
  const std::vector<std::uint32_t> history = {0, 10, 16, 17, 100, 1'000'000};
  EXPECT_EQ(detail::batch_histogram(history, slack, 16),
            (detail::BatchHistogram{{1, 26}, {2, 17}, {7, 100}, {16, 1'000'000}}));
  EXPECT_EQ(detail::batch_histogram(history, Decimal(0), 16), (detail::BatchHistogram{{1, 1'000'143}}));
}

TEST(Paris, MixesSizesByTheHistory) {
  const Scenario scenario = scenario_of({gpus("A30", 2)}, {knee_service("a"), knee_service("b")});
  // Calm: batches of 1 for both. Busy: b forms batches of 7; the remaining pieces go to it, as it has less capacity per
  // load.
  EXPECT_EQ(show(scenario, paris_layout(scenario, {{10}, {10}})),
            "0:1g.6gb@0=a 0:1g.6gb@1=a 0:1g.6gb@2=a 0:1g.6gb@3=b 1:1g.6gb@0=a 1:1g.6gb@1=b 1:1g.6gb@2=b 1:1g.6gb@3=b");
  EXPECT_EQ(show(scenario, paris_layout(scenario, {{10}, {100}})),
            "0:1g.6gb@0=a 0:1g.6gb@1=a 0:1g.6gb@2=b 0:1g.6gb@3=b 1:4g.24gb@0=b");
}

TEST(Paris, TakesOneRequestASecondWhereNothingWasSeen) {
  const Scenario scenario = scenario_of({gpus("A30", 2)}, {knee_service("a"), knee_service("b")});
  EXPECT_EQ(paris_layout(scenario, {{}, {0, 0}}), paris_layout(scenario, {{1}, {1}}));
  EXPECT_EQ(paris_assumptions(scenario, {{}, {0, 1}}),
            std::vector<std::string>{"a: no request in its history; taken as 1 request per second"});
}

TEST(Paris, FallsBackToSmallSlicesWhereTheKneesLeaveNoRoom) {
  std::vector<ServiceSpec> services = {knee_service("a"), knee_service("b"), knee_service("c")};
  const Scenario scenario = scenario_of({gpus("A30", 1)}, services);
  const LayoutOrInfeasible answer = paris_layout(scenario, {{100}, {100}, {100}});
  testing::expect_sound(scenario, std::get<Layout>(answer));
}

TEST(Paris, UsesWholeGpus) {
  const Scenario scenario = scenario_of({gpus("T4-16GB", 3)}, {service_everywhere("a"), service_everywhere("b")});
  EXPECT_EQ(show(scenario, paris_layout(scenario, {{100}, {10}})), "0:full@0=a 1:full@0=b 2:full@0=a");
  const Scenario small = scenario_of({gpus("T4-16GB", 1)}, {service_everywhere("a"), service_everywhere("b")});
  EXPECT_EQ(show(small, paris_layout(small, {{100}, {10}})),
            "infeasible: needs 2 slices, one for each service; the fleet's 1 GPU can be cut into at most 1");
}

}  // namespace
}  // namespace berth::partition
