#include "tier/enforce/seen_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace berth::tier {
namespace {

PerformancePoint point(const std::string& gpu, int batch, int processes, Decimal latency_ms) {
  return {.gpu = gpu,
          .profile = "full",
          .batch = batch,
          .processes = processes,
          .requests_per_second = Decimal(1000 * batch * processes) / latency_ms,
          .latency_ms = latency_ms};
}

/// B has twice A's throughput, C three times it, and nothing is known of D.
std::optional<double> tflops(const std::string& gpu, const std::string& /*profile*/) {
  if (gpu == "D") return std::nullopt;
  return gpu == "A" ? 10.0 : gpu == "B" ? 20.0 : 30.0;
}

const ComputeOf kCompute = tflops;

PerformanceTable table_with(std::vector<PerformancePoint> points) {
  return {.model = "m", .points = std::move(points)};
}

TEST(SeenRows, AreTheTableIfAllModelsAreKnown) {
  const PerformanceTable all = table_with({point("A", 1, 1, Decimal(4)), point("B", 1, 1, Decimal(3))});
  const std::vector<std::string> known = {"A", "B"};
  const SeenRows seen = seen_rows(all, known, {.sure = 0.9, .compute_of = kCompute});
  EXPECT_EQ(seen.table, all);
  EXPECT_TRUE(seen.predicted_on.empty());
}

TEST(SeenRows, PredictTheRatioOfThroughputAtTheMedian) {
  const std::vector<std::string> known = {"A"};
  const PerformanceTable all = table_with({point("A", 1, 1, Decimal(4)), point("A", 3, 1, Decimal(8)),
                                           point("B", 2, 1, Decimal(1)), point("B", 6, 1, Decimal(1))});
  const SeenRows seen = seen_rows(all, known, {.sure = 0.5, .compute_of = kCompute});
  ASSERT_EQ(seen.table.points.size(), 4U);
  EXPECT_EQ(seen.predicted_on, std::vector<std::string>{"B"});
  // A batch of 2 takes 6 ms on A, one of 6 twice the 8 ms of 3.
  const double speed_up = std::pow(2, kUse);
  EXPECT_NEAR(seen.table.points[2].latency_ms.to_double(), 6 / speed_up, 1e-6);
  EXPECT_NEAR(seen.table.points[3].latency_ms.to_double(), 16 / speed_up, 1e-6);
  EXPECT_NEAR(seen.table.points[2].requests_per_second.to_double(), 2000 * speed_up / 6, 1e-3);
}

TEST(SeenRows, DoNotDependOnTheFiguresThatAreNotKnown) {
  const std::vector<std::string> known = {"A"};
  const RowPrediction prediction{.sure = 0.8, .compute_of = kCompute};
  const SeenRows slow =
      seen_rows(table_with({point("A", 1, 1, Decimal(4)), point("B", 1, 1, Decimal(100))}), known, prediction);
  const SeenRows fast =
      seen_rows(table_with({point("A", 1, 1, Decimal(4)), point("B", 1, 1, Decimal(1))}), known, prediction);
  EXPECT_EQ(slow.table, fast.table);
}

TEST(SeenRows, AreSlowerTheSurerTheyAre) {
  const std::vector<std::string> known = {"A"};
  const PerformanceTable all = table_with({point("A", 1, 1, Decimal(4)), point("B", 1, 1, Decimal(3))});
  double last_ms = 0;
  for (const double sure : {0.1, 0.5, 0.9, 0.99}) {
    const SeenRows seen = seen_rows(all, known, {.sure = sure, .compute_of = kCompute});
    EXPECT_GT(seen.table.points[1].latency_ms.to_double(), last_ms);
    last_ms = seen.table.points[1].latency_ms.to_double();
  }
  const double spread = std::hypot(kModelSpread, kUseSpread * std::log(2));
  EXPECT_NEAR(last_ms, 4 * std::exp(spread * normal_quantile(0.99) - kUse * std::log(2)), 1e-4);
}

TEST(SeenRows, ComeFromTheNearestKnownModel) {
  const std::vector<std::string> known = {"A", "B"};
  const PerformanceTable all =
      table_with({point("A", 1, 1, Decimal(4)), point("B", 1, 1, Decimal(9)), point("C", 1, 1, Decimal(1))});
  const SeenRows seen = seen_rows(all, known, {.sure = 0.5, .compute_of = kCompute});
  // B uses nothing of its throughput: it is slower than A. So C uses less than others would, from B's 9 ms.
  const double weight = std::pow(std::log(2) / kModelSpread, 2);
  const double prior = 1 / (kUseSpread * kUseSpread);
  const double use = (kUse * prior + weight * std::log(4.0 / 9) / std::log(2)) / (prior + weight);
  EXPECT_NEAR(seen.table.points[2].latency_ms.to_double(), 9 / std::pow(1.5, use), 1e-5);
}

TEST(SeenRows, TakeMoreProcessesAsProportionallySlower) {
  const std::vector<std::string> known = {"A"};
  const PerformanceTable all = table_with({point("A", 1, 2, Decimal(4)), point("B", 1, 3, Decimal(1))});
  const SeenRows seen = seen_rows(all, known, {.sure = 0.5, .compute_of = kCompute});
  EXPECT_NEAR(seen.table.points[1].latency_ms.to_double(), 6 / std::pow(2, kUse), 1e-6);
}

TEST(SeenRows, LeaveOutModelsOfUnknownThroughput) {
  const std::vector<std::string> known = {"A"};
  const PerformanceTable all = table_with({point("A", 1, 1, Decimal(4)), point("D", 1, 1, Decimal(1))});
  const SeenRows seen = seen_rows(all, known, {.sure = 0.9, .compute_of = kCompute});
  EXPECT_EQ(seen.table.points.size(), 1U);
  EXPECT_TRUE(seen.predicted_on.empty());
}

TEST(HardwareCompute, IsThatOfTheSliceWhereBothAreKnown) {
  const ComputeOf compute = hardware_compute();
  ASSERT_TRUE(compute("A100-80GB", "7g.80gb"));
  EXPECT_NEAR(*compute("A100-80GB", "1g.10gb") * 7, *compute("A100-80GB", "7g.80gb"), 1e-9);
  EXPECT_GT(*compute("A100-80GB", "full"), *compute("T4-16GB", "full"));
  EXPECT_FALSE(compute("T4-16GB", "1g.10gb"));
  EXPECT_FALSE(compute("none of ours", "full"));
}

TEST(NormalQuantile, IsThatOfTheStandardNormalDistribution) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655, 1e-9);
  EXPECT_NEAR(normal_quantile(0.025), -1.9599639845, 1e-9);
}

}  // namespace
}  // namespace berth::tier
