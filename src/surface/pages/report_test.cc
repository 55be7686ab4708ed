#include "surface/pages/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "surface/pages/page_figures.h"

namespace berth::report {
namespace {

constexpr const char* kHostileName = "</script><b>&\"x";

/// `gpu_count` GPUs with one slice each, all of one service whose name tries to break out of the markup.
struct Sample {
  Scenario scenario;
  study::ReplayResult result;
};

Sample sample(std::uint32_t gpu_count) {
  MigProfile profile;
  profile.name = "3g.40gb";
  profile.length = 4;
  GpuModel model;
  model.name = "A100-80GB";
  model.units = 8;
  model.profiles = {profile};
  Sample made;
  made.scenario.fleet.push_back({.model = model, .count = gpu_count, .usd_per_gpu_hour = Decimal(3673, 1000)});
  ServiceSpec service;
  service.name = kHostileName;
  service.tenant = "vision";
  service.target_ms = Decimal(100);
  made.scenario.services = {service};

  measure::PolicyResult policy;
  policy.name = "fixed";
  policy.figures.goodput = 0.5;
  policy.services = {{.name = kHostileName, .figures = {}}};
  policy.timeline.bin = Micros::seconds(2);
  policy.timeline.goodput = {0.123456789, std::nullopt};
  policy.timeline.goodput_mean_of_services = {0.25, std::nullopt};
  policy.timeline.services = {
      {.arrivals_per_second = {1.5, 0}, .capacity_per_second = {10, 10}, .goodput = {0.5, std::nullopt}}};
  for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu) {
    policy.timeline.spans.push_back({.slice = {.gpu = GpuId{gpu}, .start = 4, .profile = ProfileId{0}},
                                     .services = {ServiceId{0}},
                                     .role = Role::kInference,
                                     .state = measure::SliceSpan::State::kServing,
                                     .from = Instant(0),
                                     .until = Instant(2'500'000)});
  }
  made.result.scenario = "<i>.yaml";
  made.result.simulated_seconds = 4;
  made.result.policies = {policy};
  return made;
}

nlohmann::json figures_of(const Sample& made) {
  return nlohmann::json::parse(page_figures(made.scenario, made.result));
}

TEST(PageFigures, KeepsSlicesAtTheirTruePositions) {
  const nlohmann::json page = figures_of(sample(1));
  const nlohmann::json expected = {0, 4, 4, "3g.40gb", "serving", {0}, 0.0, 2.5};
  EXPECT_EQ(page["policies"][0]["timeline"]["spans"][0], expected);
  EXPECT_EQ(page["gpus"][0]["units"], 8);
}

TEST(PageFigures, KeepsWhatIsAbsentAbsent) {
  const nlohmann::json policy = figures_of(sample(1))["policies"][0];
  EXPECT_TRUE(policy["figures"]["mean"].is_null());
  EXPECT_TRUE(policy["figures"]["cost"].is_null());
  EXPECT_EQ(policy["timeline"]["goodput"], nlohmann::json::parse("[0.25,null]"));
  EXPECT_EQ(policy["timeline"]["service_goodput"], nlohmann::json::parse("[[0.5,null]]"));
}

TEST(PageFigures, FollowsTheObjectiveAndRounds) {
  Sample made = sample(1);
  made.scenario.objective = Objective::kRequests;
  EXPECT_EQ(figures_of(made)["policies"][0]["timeline"]["goodput"], nlohmann::json::parse("[0.12346,null]"));
}

TEST(PageFigures, ShowsTheFirstGpusOfALargeFleet) {
  const nlohmann::json page = figures_of(sample(1000));
  EXPECT_EQ(page["gpu_count"], 1000);
  EXPECT_EQ(page["gpus"].size(), kReportGpusMax);
  EXPECT_EQ(page["policies"][0]["timeline"]["spans"].size(), kReportGpusMax);
}

TEST(PageFigures, ShowsAnUncutGpuAsOneWholeSlice) {
  Sample made = sample(1);
  made.scenario.fleet[0].model.profiles.clear();
  made.scenario.fleet[0].model.units = 0;
  made.result.policies[0].timeline.spans[0].slice = {.gpu = {}, .start = 0, .profile = ProfileId::full()};
  const nlohmann::json span = figures_of(made)["policies"][0]["timeline"]["spans"][0];
  EXPECT_EQ(span[2], 1);
  EXPECT_EQ(span[3], "full");
}

TEST(PageFigures, HasAPolicyThatCannotRun) {
  Sample made = sample(1);
  made.result.policies[0].infeasible = "no room";
  const nlohmann::json page = figures_of(made);
  EXPECT_EQ(page["policies"][0]["infeasible"], "no room");
  EXPECT_FALSE(page["policies"][0].contains("figures"));
}

TEST(Report, LetsNoNameBreakOut) {
  const Sample made = sample(2);
  const std::string page = render_report(made.scenario, made.result);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_EQ(page.find("<i>.yaml"), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;i&gt;.yaml"), std::string::npos);
}

TEST(Report, IsOnePageThatLoadsNothing) {
  const Sample made = sample(2);
  const std::string page = render_report(made.scenario, made.result);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<link rel=\"stylesheet"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page, render_report(made.scenario, made.result));
}

}  // namespace
}  // namespace berth::report
