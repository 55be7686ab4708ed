#include "planner/window/frame.h"
#include "base/core/duration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"

namespace berth::planner {
namespace {

/// A service measured on every profile of a model, so that the frame has a site for each that it may use.
ServiceSpec measured_on(const GpuModel& model, const std::vector<PerformancePoint>& points) {
  ServiceSpec service;
  service.name = "s";
  service.target_ms = Decimal(100);
  service.target = micros_from_millis(service.target_ms);
  service.table.model = "m";
  service.table.points = points;
  for (PerformancePoint& point : service.table.points) point.gpu = model.name;
  return service;
}

PerformancePoint point(std::string profile, int batch, int processes, std::int64_t latency_ms) {
  return {.gpu = "",
          .profile = std::move(profile),
          .batch = batch,
          .processes = processes,
          .requests_per_second = Decimal(1),
          .latency_ms = Decimal(latency_ms)};
}

Scenario scenario_on(const std::string& gpu, const std::vector<PerformancePoint>& points) {
  Scenario scenario;
  FleetEntry entry;
  entry.model = mig::find_gpu_model(gpu).value();
  scenario.fleet = {entry};
  scenario.services = {measured_on(entry.model, points)};
  return scenario;
}

/// Sets of sites no two of which clash.
std::int64_t count_sets(const std::vector<Site>& sites, std::size_t from, std::uint64_t taken) {
  std::int64_t count = 1;
  for (std::size_t site = from; site < sites.size(); ++site) {
    if ((sites[site].clashes & taken) == 0) count += count_sets(sites, site + 1, taken | std::uint64_t{1} << site);
  }
  return count;
}

TEST(Frame, AWholeGpuThatCannotBeUsedIsNoSite) {
  Scenario scenario = scenario_on("A30-24GB", {point("full", 1, 1, 10), point("1g.6gb", 1, 1, 10)});
  scenario.fleet.push_back(scenario.fleet.front());
  scenario.fleet.back().model.has_full = false;
  const Frame frame = make_frame(scenario);
  const auto full_on = [](std::uint32_t gpu) { return Slice{.gpu = {gpu}, .start = 0, .profile = ProfileId::full()}; };
  EXPECT_TRUE(frame.site_of(full_on(0)).has_value());
  EXPECT_FALSE(frame.site_of(full_on(1)).has_value());
}

TEST(Frame, PairsOfSitesTellWhatIsLegal) {
  for (const GpuModel& model : mig::gpu_models()) {
    std::vector<PerformancePoint> points;
    std::vector<ProfileId> used;
    for (std::uint16_t index = 0; index < model.profiles.size(); ++index) {
      const MigProfile& profile = model.profiles[index];
      if (!profile.is_plain() && !profile.is_double_memory) continue;
      points.push_back(point(profile.name, 1, 1, 10));
      used.push_back({index});
    }
    const Frame frame = make_frame(scenario_on(model.name, points));
    std::int64_t legal = 1;  // the whole GPU
    if (model.is_mig_capable()) {
      mig::for_each_state(model, {.profiles = used, .is_before_r510 = false}, [&](const mig::State&) { ++legal; });
    } else {
      ++legal;  // the empty one
    }
    EXPECT_EQ(count_sets(frame.models[0].sites, 0, 0), legal) << model.name;
  }
}

struct PointCase {
  const char* name;
  std::vector<PerformancePoint> points;
  double rate;  ///< 0: none
  int batch;
  int processes;
};

TEST(Frame, TakesTheQuickestPointThatKeepsTheTargetOutOfStep) {
  const std::vector<PointCase> cases = {
      {"one process may take half the target", {point("2g.20gb", 4, 1, 50)}, 80, 4, 1},
      {"a little more is too slow, and the default rule has 45 ms", {point("2g.20gb", 4, 1, 51)}, 0, 0, 0},
      {"three processes may take three quarters", {point("2g.20gb", 4, 3, 75)}, 160, 4, 3},
      {"four are more than the service may have", {point("2g.20gb", 4, 4, 10)}, 0, 0, 0},
      {"most requests win",
       {point("2g.20gb", 1, 1, 10), point("2g.20gb", 8, 1, 40), point("2g.20gb", 16, 1, 90)},
       200,
       8,
       1},
      {"none keeps it: the default rule decides", {point("2g.20gb", 1, 1, 60), point("2g.20gb", 8, 1, 40)}, 200, 8, 1},
  };
  for (const PointCase& each : cases) {
    Scenario scenario = scenario_on("A100-80GB", each.points);
    const Frame frame = make_frame(scenario);
    const auto& sites = frame.models[0].sites;
    const auto site = std::ranges::find_if(
        sites, [&](const Site& at) { return profile_name(scenario.fleet[0].model, at.profile) == "2g.20gb"; });
    ASSERT_NE(site, sites.end());
    const auto kind = static_cast<std::size_t>(site->kind);
    EXPECT_DOUBLE_EQ(frame.models[0].rates[kind][0].requests_per_second[0], each.rate) << each.name;
    const auto& choice = frame.points[0][kind][0][0];
    ASSERT_EQ(choice.has_value(), each.rate > 0) << each.name;
    if (!choice) continue;
    EXPECT_EQ(choice->batch, each.batch) << each.name;
    EXPECT_EQ(choice->processes, each.processes) << each.name;
  }
}

TEST(Frame, SaysTheRateOfOneProfile) {
  Scenario scenario = scenario_on("A100-80GB", {point("2g.20gb", 4, 1, 50), point("2g.20gb", 8, 1, 90)});
  const GpuModel& model = scenario.fleet[0].model;
  const auto rate_on = [&](std::string_view profile) {
    return planned_rate(scenario, std::as_const(scenario.services)[0], model, *mig::find_profile(model, profile));
  };
  EXPECT_DOUBLE_EQ(rate_on("2g.20gb"), 80);
  EXPECT_DOUBLE_EQ(rate_on("3g.40gb"), 0);
}

/// The rates of service 0 on 2g.20gb, by variant.
std::vector<double> rates_with(const Scenario& scenario, const FrameOptions& options) {
  const Frame frame = make_frame(scenario, options);
  const auto& sites = frame.models[0].sites;
  const auto site = std::ranges::find_if(
      sites, [&](const Site& at) { return profile_name(scenario.fleet[0].model, at.profile) == "2g.20gb"; });
  return frame.models[0].rates[static_cast<std::size_t>(site->kind)][0].requests_per_second;
}

TEST(Frame, IdeasCanBeLeftOut) {
  // 45 ms is the default rule's limit (0.45 of 100); the target alone would allow 50 for one process.
  Scenario scenario = scenario_on("A100-80GB", {point("2g.20gb", 1, 1, 20), point("2g.20gb", 4, 1, 50)});
  Variant variant;
  variant.table = scenario.services[0].table;
  for (PerformancePoint& each : variant.table.points) each.latency_ms = each.latency_ms * Decimal(1, 2);
  scenario.services[0].variants = {variant};
  EXPECT_EQ(rates_with(scenario, {}), (std::vector<double>{80, 160}));
  EXPECT_EQ(rates_with(scenario, {.chooses_points = true, .has_variants = false}), (std::vector<double>{80, 0}));
  EXPECT_EQ(rates_with(scenario, {.chooses_points = false, .has_variants = true}), (std::vector<double>{50, 0}));
}

TEST(Frame, FindsSitesOfSlicesAndBack) {
  const Scenario scenario = scenario_on("A30", {});
  const Frame frame = make_frame(scenario);
  for (std::size_t site = 0; site < frame.models[0].sites.size(); ++site) {
    const Slice slice = frame.slice_at({0}, SiteIndex(site));
    EXPECT_EQ(frame.site_of(slice), static_cast<int>(site));
  }
  EXPECT_FALSE(frame.site_of({.gpu = {0}, .start = 3, .profile = ProfileId::full()}).has_value());
}

}  // namespace
}  // namespace berth::planner
