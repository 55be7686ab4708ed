#include "domain/trace/run_arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace berth {
namespace {

using ::testing::ElementsAre;

ServiceSpec service_of(std::vector<std::uint32_t> counts, std::int64_t from_second, std::int64_t seconds) {
  ServiceSpec service;
  service.arrivals.source = CountTrace{std::move(counts)};
  service.arrivals.from_second = from_second;
  service.arrivals.seconds = seconds;
  return service;
}

Scenario two_services() {
  Scenario scenario;
  scenario.services = {service_of({9, 8, 1, 2, 3}, 2, 3), service_of({5, 0, 7}, 0, 3)};
  return scenario;
}

TEST(RunArrivals, CountsTheSecondsOfTheRun) {
  const Scenario scenario = two_services();
  const RunArrivals arrivals(scenario, 1);
  EXPECT_EQ(arrivals.count(ServiceId{0}, 0), 1);
  EXPECT_EQ(arrivals.count(ServiceId{0}, 2), 3);
  EXPECT_EQ(arrivals.count(ServiceId{1}, 0), 5);
  EXPECT_THAT(arrivals.totals(), ElementsAre(6, 12));
}

TEST(RunArrivals, HistoryIsWhatTheTraceHasBeforeTheRun) {
  const Scenario scenario = two_services();
  const RunArrivals arrivals(scenario, 1);
  EXPECT_EQ(arrivals.history(ServiceId{0}, -1), 8);
  EXPECT_EQ(arrivals.history(ServiceId{0}, -2), 9);
  EXPECT_EQ(arrivals.history(ServiceId{0}, -3), std::nullopt);
  EXPECT_EQ(arrivals.history(ServiceId{1}, -1), std::nullopt);
}

TEST(RunArrivals, OneServiceAloneHearsTheSameRequests) {
  const Scenario scenario = two_services();
  const RunArrivals all(scenario, 7);
  const RunArrivals alone(scenario, 7, ServiceId{1});
  EXPECT_THAT(alone.totals(), ElementsAre(0, 12));
  for (std::int64_t second = 0; second < 3; ++second) {
    std::vector<std::uint32_t> wanted;
    std::vector<std::uint32_t> found;
    all.offsets(ServiceId{1}, second, wanted);
    alone.offsets(ServiceId{1}, second, found);
    EXPECT_EQ(found, wanted) << second;
    EXPECT_EQ(static_cast<std::int64_t>(found.size()), alone.count(ServiceId{1}, second));
  }
}

}  // namespace
}  // namespace berth
