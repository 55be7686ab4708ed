#include "domain/scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth {
namespace {

MigProfile profile(std::string name, int compute_slices, std::optional<int> sms) {
  MigProfile made;
  made.name = std::move(name);
  made.compute_slices = compute_slices;
  made.sms = sms;
  return made;
}

Scenario two_entries() {
  GpuModel cut;
  cut.name = "cut";
  cut.compute_slices = 7;
  cut.sms = 108;
  cut.profiles = {profile("1g", 1, 14), profile("3g", 3, std::nullopt), profile("9g", 9, std::nullopt)};
  GpuModel whole;
  whole.name = "whole";
  whole.sms = 40;
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

TEST(Scenario, EndsWithTheLongestWindow) {
  Scenario scenario = two_entries();
  for (const std::int64_t seconds : {5, 60, 7}) scenario.services.emplace_back().arrivals.seconds = seconds;
  EXPECT_EQ(scenario.simulated_seconds(), 60);
}

TEST(Profiles, SmsAreKnownOrEstimatedAndNeverMoreThanTheGpuHas) {
  const GpuModel model = two_entries().fleet[0].model;
  EXPECT_EQ(profile_sms(model, {0}), 14);
  EXPECT_EQ(profile_sms(model, {1}), 42);
  EXPECT_EQ(profile_sms(model, {2}), 108);
  EXPECT_EQ(profile_sms(model, ProfileId::full()), 108);
  GpuModel unknown = model;
  unknown.profiles[0].sms.reset();
  EXPECT_EQ(profile_sms(unknown, {1}), 108 * 3 / 7);
  EXPECT_EQ(profile_name(model, {1}), "3g");
  EXPECT_EQ(profile_name(model, ProfileId::full()), "full");
}

}  // namespace
}  // namespace berth
