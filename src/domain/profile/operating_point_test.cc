#include "domain/profile/operating_point.h"

#include <gtest/gtest.h>

namespace berth::profile {
namespace {

Decimal decimal(const char* text) { return Decimal::parse(text).value(); }

GpuModel two_profiles() {
  GpuModel model;
  model.name = "G";
  model.profiles.resize(3);
  model.profiles[0].name = "1g.10gb";
  model.profiles[0].compute_slices = 1;
  model.profiles[0].length = 1;
  model.profiles[1].name = "7g.80gb";
  model.profiles[1].compute_slices = 7;
  model.profiles[1].length = 8;
  model.profiles[2] = model.profiles[1];
  model.profiles[2].name = "7g.80gb+me";
  model.profiles[2].media = MediaEngines::kExtended;
  return model;
}

PerformancePoint row(const char* profile, int processes, int batch, const char* rate, const char* latency_ms) {
  return {"G", profile, batch, processes, decimal(rate), decimal(latency_ms)};
}

ServiceSpec service_with(std::vector<PerformancePoint> points) {
  ServiceSpec service;
  service.target_ms = Decimal(100);
  service.batching.slo_factor = decimal("0.45");
  service.batching.processes_max = 3;
  service.table.points = std::move(points);
  return service;
}

TEST(OperatingPoint, TakesTheMostThroughputAmongUsablePoints) {
  const ServiceSpec service = service_with({row("1g.10gb", 1, 1, "100", "10"), row("1g.10gb", 1, 8, "300", "44.999"),
                                            row("1g.10gb", 1, 16, "900", "45"),   // not below 0.45 x 100
                                            row("1g.10gb", 4, 8, "999", "30")});  // too many processes
  const auto point = choose_point(service, two_profiles(), ProfileId{0});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->batch, 8);
  EXPECT_EQ(point->processes, 1);
  EXPECT_EQ(point->latency_ms, decimal("44.999"));
}

TEST(OperatingPoint, TiesGoToTheSmallerBatchThenToFewerProcesses) {
  const ServiceSpec by_batch = service_with({row("1g.10gb", 1, 4, "100", "10"), row("1g.10gb", 2, 2, "100", "10")});
  EXPECT_EQ(choose_point(by_batch, two_profiles(), ProfileId{0})->batch, 2);
  const ServiceSpec by_processes = service_with({row("1g.10gb", 2, 2, "100", "10"), row("1g.10gb", 3, 2, "100", "10")});
  EXPECT_EQ(choose_point(by_processes, two_profiles(), ProfileId{0})->processes, 2);
}

TEST(OperatingPoint, NothingUsableIsNothing) {
  const ServiceSpec service = service_with({row("1g.10gb", 1, 1, "100", "45")});
  EXPECT_FALSE(choose_point(service, two_profiles(), ProfileId{0}).has_value());
  EXPECT_FALSE(choose_point(service, two_profiles(), ProfileId{1}).has_value());
}

TEST(OperatingPoint, LatencyIsLinearBetweenBatchesAndTheSmallestBelow) {
  // Batch 8 is not usable (its latency is too long for a default), yet it would bend a line above it; the choice is 4.
  const ServiceSpec service = service_with({row("1g.10gb", 2, 2, "10", "10"), row("1g.10gb", 2, 4, "99", "11"),
                                            row("1g.10gb", 2, 8, "999", "200"), row("1g.10gb", 3, 3, "1", "1")});
  const auto point = choose_point(service, two_profiles(), ProfileId{0});
  ASSERT_TRUE(point.has_value());
  const std::vector<Decimal> expected = {decimal("10"), decimal("10"), decimal("10.5"), decimal("11")};
  EXPECT_EQ(point->latency_ms_by_batch, expected);
}

TEST(OperatingPoint, UnusableBatchesBetweenBendTheLine) {
  const ServiceSpec service = service_with(
      {row("1g.10gb", 1, 1, "10", "10"), row("1g.10gb", 1, 3, "20", "90"), row("1g.10gb", 1, 5, "99", "20")});
  const auto point = choose_point(service, two_profiles(), ProfileId{0});
  const std::vector<Decimal> expected = {decimal("10"), decimal("50"), decimal("90"), decimal("55"), decimal("20")};
  EXPECT_EQ(point->latency_ms_by_batch, expected);
}

TEST(OperatingPoint, FullStandsForTheLargestPlainProfileUnlessItHasRows) {
  const PerformancePoint seven = row("7g.80gb", 1, 1, "70", "7");
  const PerformancePoint full = row("full", 1, 1, "80", "8");
  PerformanceTable table{"m", {seven}};
  EXPECT_EQ(points_on(table, two_profiles(), ProfileId::full()), std::vector{seven});
  table.points.push_back(full);
  EXPECT_EQ(points_on(table, two_profiles(), ProfileId::full()), std::vector{full});
  GpuModel whole;
  whole.name = "G";
  table.points.pop_back();
  EXPECT_TRUE(points_on(table, whole, ProfileId::full()).empty());
}

TEST(OperatingPoint, NobodyIsServedOnAWholeGpuThatCannotBeUsed) {
  GpuModel model = two_profiles();
  model.has_full = false;
  const PerformanceTable table{"m", {row("7g.80gb", 1, 1, "70", "7"), row("full", 1, 1, "80", "8")}};
  EXPECT_TRUE(points_on(table, model, ProfileId::full()).empty());
}

TEST(OperatingPoint, FindsThePointOfAVariant) {
  ServiceSpec service = service_with({row("1g.10gb", 1, 1, "10", "10")});
  service.variants.push_back({"int8", {"m", {row("1g.10gb", 5, 2, "20", "400")}}, {}});
  const GpuModel model = two_profiles();
  EXPECT_FALSE(
      point_for(service, model, ProfileId{0}, PointChoice{.variant = 0, .batch = 2, .processes = 5}).has_value());
  EXPECT_FALSE(
      point_for(service, model, ProfileId{0}, PointChoice{.variant = 2, .batch = 1, .processes = 1}).has_value());
  const auto point = point_for(service, model, ProfileId{0}, PointChoice{.variant = 1, .batch = 2, .processes = 5});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->variant, 1);
  EXPECT_EQ(point->latency_ms, Decimal(400));
}

TEST(OperatingPoint, LatenciesAreRoundedHalfUpAfterTheFactor) {
  OperatingPoint point;
  point.latency_ms_by_batch = {decimal("1.0005"), decimal("1.00049")};
  EXPECT_EQ(latencies_us(point, Decimal(1)), (std::vector<std::int64_t>{1001, 1000}));
  EXPECT_EQ(latencies_us(point, decimal("1.5")), (std::vector<std::int64_t>{1501, 1501}));  // 1500.75, 1500.735
}

}  // namespace
}  // namespace berth::profile
