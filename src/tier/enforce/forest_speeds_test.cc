#include "tier/enforce/forest_speeds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tier/enforce/seen_rows.h"

namespace berth::tier {
namespace {

Tier whole(const char* gpu, std::int64_t usd, std::int64_t tflops) {
  return {.name = gpu,
          .usd_per_hour = Decimal(usd),
          .gpu = gpu,
          .profile = "full",
          .memory_mib = Decimal(16'000),
          .tflops = Decimal(tflops),
          .gb_per_second = Decimal(10 * tflops)};
}

TierPoint point(int batch, double latency_ms) {
  const Decimal latency(std::llround(latency_ms * 1e6), 1'000'000);
  return {.batch = batch, .processes = 1, .samples_per_second = Decimal(1000 * batch) / latency, .latency_ms = latency};
}

/// Models of several groups that are three times as fast on the A30 as on the T4, whatever the ratio of TFLOPS.
TierTable three_times() {
  TierTable table{.kind = TierKind::kServices, .tiers = {whole("T4-16GB", 1, 65), whole("A30-24GB", 2, 165)}};
  for (int group = 0; group < 6; ++group) {
    TierWorkload workload{.group = fmt::format("g{}", group), .name = "w"};
    workload.points.resize(2);
    for (const int batch : {1, 2, 4, 8}) {
      const double latency_ms = (group + 2) * (1 + 0.5 * batch);
      workload.points[0].push_back(point(batch, latency_ms));
      workload.points[1].push_back(point(batch, latency_ms / 3));
    }
    table.workloads.push_back(std::move(workload));
  }
  return table;
}

PerformancePoint row(const char* gpu, const TierPoint& of) {
  return {.gpu = gpu,
          .profile = "full",
          .batch = of.batch,
          .processes = of.processes,
          .requests_per_second = of.samples_per_second,
          .latency_ms = of.latency_ms};
}

TEST(ForestSpeeds, PredictTheRowsOfTheTiersThatTheyName) {
  const auto estimator = Estimator::train(three_times(), {}, {.trees = 20});
  ASSERT_TRUE(estimator.has_value()) << estimator.error().message;
  PerformanceTable all{.model = "m", .points = {row("A30-24GB", point(4, 99)), row("L4-24GB", point(4, 99))}};
  for (const int batch : {1, 2, 4, 8}) all.points.push_back(row("T4-16GB", point(batch, 5 * (1 + 0.5 * batch))));
  const std::vector<std::string> known = {"T4-16GB"};
  const auto speeds = forest_speeds(*estimator, all, known);
  ASSERT_TRUE(speeds.has_value());
  EXPECT_EQ(speeds->over, SliceName("T4-16GB", "full"));
  ASSERT_EQ(speeds->of.size(), 1U);
  EXPECT_NEAR(std::exp(speeds->of.begin()->second.mean), 3, 0.3);
  EXPECT_GT(speeds->of.begin()->second.spread, 0);
  const ComputeOf compute = hardware_compute();
  const SeenRows seen = seen_rows(all, known, {.sure = 0.5, .compute_of = compute, .forest = &*speeds});
  EXPECT_NEAR(seen.table.points[0].latency_ms.to_double(), 15 / 3.0, 0.6);
  EXPECT_EQ(seen.predicted_on, (std::vector<std::string>{"A30-24GB", "L4-24GB"}));  // the L4 by its TFLOPS
}

TEST(ForestSpeeds, AreNothingWithoutAKnownTier) {
  const auto estimator = Estimator::train(three_times(), {}, {.trees = 20});
  ASSERT_TRUE(estimator.has_value());
  const PerformanceTable all{.model = "m", .points = {row("L4-24GB", point(4, 99))}};
  EXPECT_FALSE(forest_speeds(*estimator, all, std::vector<std::string>{"L4-24GB"}));
}

TEST(TierModel, IsReadOrRefusedByItsName) {
  EXPECT_FALSE(read_tier_model({}).value().has_value());
  const auto estimator = Estimator::train(three_times(), {}, {.trees = 20});
  ASSERT_TRUE(estimator.has_value());
  TierSettings settings{.forest_file = "f.json", .forest = std::make_shared<const std::string>(estimator->write())};
  const auto read = read_tier_model(settings);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read.value()->tiers(), estimator->tiers());
  settings.forest = std::make_shared<const std::string>("{}");
  const auto refused = read_tier_model(settings);
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with("f.json")) << refused.error().message;
}

}  // namespace
}  // namespace berth::tier
