#include "surface/pages/insight_figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "surface/pages/report.h"

namespace berth::report {
namespace {

Scenario cut_gpus(std::uint32_t count) {
  MigProfile one;
  one.name = "1g.10gb";
  one.length = 1;
  MigProfile three;
  three.name = "3g.40gb";
  three.length = 4;
  GpuModel model;
  model.name = "A100-80GB";
  model.units = 8;
  model.profiles = {one, three};
  Scenario scenario;
  scenario.fleet.push_back({.model = model, .count = count, .usd_per_gpu_hour = std::nullopt});
  return scenario;
}

Slice slice_of(std::uint32_t gpu, int start, std::uint16_t profile) {
  return {.gpu = {gpu}, .start = start, .profile = {profile}};
}

AssignSlice given(const Slice& slice, std::vector<ServiceId> services, Role role, std::optional<PointChoice> point) {
  return {.holding = {.slice = slice, .role = role, .services = std::move(services)}, .point = point};
}

using Json = nlohmann::json;

Json forecast_json(const measure::Insight& insight) {
  json::Writer json;
  write_forecast(json, insight);
  return Json::parse(json.take());
}

Json decisions_json(const Scenario& scenario, const measure::Insight& insight) {
  json::Writer json;
  write_decisions(json, scenario, insight);
  return Json::parse(json.take());
}

TEST(InsightFigures, ADecisionIsReportedWithItsStepsReasonAndNumbers) {
  const Slice old = slice_of(0, 0, 1);
  const Slice small = slice_of(0, 4, 0);
  const Slice other = slice_of(0, 5, 0);
  measure::Insight insight;
  insight.decision_count = 1;
  insight.decisions = {
      {.acts_at = Instant(2'500'000),
       .gpu = {0},
       .reason = {.text = "it is worthwhile", .numbers = {{"gain", 1.23456789}}},
       .steps = {DestroySlice{old}, CreateSlice{small},
                 given(small, {{1}}, Role::kInference, PointChoice{.variant = 2, .batch = 8, .processes = 3}),
                 given(other, {{0}}, Role::kRetraining, std::nullopt),
                 given(other, {}, Role::kInference, std::nullopt)}}};
  const auto expected = Json::parse(R"({"count": 1, "shown": [[0, 2.5, "it is worthwhile", [["gain", 1.2346]], [
    ["destroy", "3g.40gb", 0, [], ""],
    ["create", "1g.10gb", 4, [1], "variant 2, batch 8 × 3"],
    ["assign", "1g.10gb", 5, [0], "retraining"],
    ["assign", "1g.10gb", 5, [], ""]]]]})");
  EXPECT_EQ(decisions_json(cut_gpus(1), insight), expected);
}

TEST(InsightFigures, ALargeReplayIsCut) {
  measure::Insight insight;
  insight.decision_count = 1'000'000;
  for (std::uint32_t i = 0; i < kReportDecisionsMax + 100; ++i) {
    const GpuId gpu{i % 2 == 0 ? 0 : kReportGpusMax};
    for (int twice = 0; twice < 2; ++twice) {
      insight.decisions.push_back({.acts_at = Instant::at_second(i),
                                   .gpu = gpu,
                                   .reason = {.text = "so", .numbers = {}},
                                   .steps = {DestroySlice{slice_of(gpu.index, 0, 1)}}});
    }
  }
  const Json reported = decisions_json(cut_gpus(kReportGpusMax + 1), insight);
  EXPECT_EQ(reported["count"], 1'000'000);
  EXPECT_EQ(reported["shown"].size(), kReportDecisionsMax);
  for (const Json& decision : reported["shown"]) EXPECT_EQ(decision[0], 0);
}

TEST(InsightFigures, ForecastsStandByLeadAndService) {
  EXPECT_TRUE(forecast_json({}).is_null());
  measure::ServiceForecast service;
  service.low = {1, std::nullopt};
  service.median = {2.000001, std::nullopt};
  service.high = {3, std::nullopt};
  service.judged_seconds = 1;
  service.inside_share = 1;
  measure::Insight insight;
  insight.band_share = 0.8;
  insight.forecasts = {{.lead_seconds = 60, .services = {kReportServicesMax + 1, service}}};
  const Json reported = forecast_json(insight);
  EXPECT_EQ(reported["share"], 0.8);
  EXPECT_EQ(reported["leads"][0]["seconds"], 60);
  EXPECT_EQ(reported["leads"][0]["services"].size(), kReportServicesMax);
  const auto expected =
      Json::parse(R"({"low": [1, null], "median": [2, null], "high": [3, null], "inside": 1, "wape": null})");
  EXPECT_EQ(reported["leads"][0]["services"][0], expected);
}

}  // namespace
}  // namespace berth::report
