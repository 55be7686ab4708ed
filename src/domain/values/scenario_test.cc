#include "domain/values/scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth {
namespace {

Scenario two_entries() {
  GpuModel cut;
  cut.name = "cut";
  GpuModel whole;
  whole.name = "whole";
  Scenario scenario;
  scenario.fleet = {{.model = cut, .count = 2, .usd_per_gpu_hour = {}},
                    {.model = whole, .count = 1, .usd_per_gpu_hour = {}}};
  return scenario;
}

TEST(Scenario, NumbersGpusThroughTheEntries) {
  const Scenario scenario = two_entries();
  EXPECT_EQ(scenario.gpu_count(), 3U);
  EXPECT_EQ(scenario.model_of({0}).name, "cut");
  EXPECT_EQ(scenario.model_of({1}).name, "cut");
  EXPECT_EQ(scenario.model_of({2}).name, "whole");
  EXPECT_DEATH(static_cast<void>(scenario.model_of({3})), "broken invariant");
}

TEST(Scenario, LabelsOfServicesSayWhatTellsThemApart) {
  Scenario scenario;
  scenario.services.resize(4);
  const auto name = [&](std::size_t index, std::string tenant, std::string of_service) {
    scenario.services[index].tenant = std::move(tenant);
    scenario.services[index].name = std::move(of_service);
  };
  name(0, "a", "x");
  name(1, "b", "x");
  name(2, "b", "y");
  name(3, "c", "y");
  scenario.services[3].is_absent = true;
  EXPECT_EQ(service_label(scenario, {0}), "a/x");
  EXPECT_EQ(service_label(scenario, {1}), "b/x");
  EXPECT_EQ(service_label(scenario, {2}), "y");
}

TEST(Scenario, ChangesTakeWhatWasMeasuredOrIsAssumed) {
  Scenario scenario = two_entries();
  scenario.fleet.front().model.profiles.resize(2);
  scenario.fleet.front().model.profiles[0].name = "1g";
  scenario.fleet.front().model.profiles[1].name = "2g";
  const GpuModel& cut = scenario.fleet.front().model;
  using enum ActionKind;
  const ProfileId small{0};
  EXPECT_EQ(change_time(scenario, cut, small, kCreation), Micros(500'000));
  scenario.changes.destroy = Micros::seconds(2);
  scenario.measured_times = {
      {{.model = "cut", .profile = "1g", .action = kCreation}, {.median = Micros(7), .count = 3}},
      {{.model = "cut", .profile = "2g", .action = kDestruction}, {.median = Micros::seconds(5), .count = 3}}};
  EXPECT_EQ(change_time(scenario, cut, small, kCreation), Micros(7));
  EXPECT_EQ(change_time(scenario, cut, {1}, kCreation), Micros(500'000)) << "another profile";
  EXPECT_EQ(change_time(scenario, cut, small, kDestruction), Micros::seconds(2)) << "another change";
  EXPECT_EQ(change_time(scenario, scenario.fleet.back().model, ProfileId::full(), kCreation), Micros(500'000));
  EXPECT_EQ(longest_change_time(scenario, kCreation), Micros(500'000));
  EXPECT_EQ(longest_change_time(scenario, kDestruction), Micros::seconds(5));
}

TEST(Scenario, EndsWithTheLongestWindow) {
  Scenario scenario = two_entries();
  for (const std::int64_t seconds : {5, 60, 7}) scenario.services.emplace_back().arrivals.seconds = seconds;
  EXPECT_EQ(scenario.simulated_seconds(), 60);
}

}  // namespace
}  // namespace berth
