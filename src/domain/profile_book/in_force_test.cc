#include "domain/profile_book/in_force.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth::profile_book {
namespace {

ProfilePoint point(int batch, double mean_us, int processes = 1) {
  return {.batch = batch, .processes = processes, .rows_per_second = batch * 1e6 / mean_us, .mean_us = mean_us};
}

/// A run of `digits` on the CPU.
ProfileRun run(std::int64_t id, std::vector<ProfilePoint> points) {
  return {.id = id,
          .model = {.name = "digits", .sha256 = "aa"},
          .machine = {.device = "cpu", .processor = "P"},
          .points = std::move(points)};
}

/// `count` batches of `digits`, each of which took `mean_us`.
ObservedSum sum(int batch, std::int64_t count, std::int64_t mean_us) {
  return {.url = "http://a",
          .times = {.model = "digits",
                    .version = "1",
                    .sha256 = "aa",
                    .device = "cpu",
                    .batch = batch,
                    .count = count,
                    .sum_us = count * mean_us,
                    .sum_squares = static_cast<double>(count * mean_us * mean_us)}};
}

const PlaceInForce& only_place(const std::vector<ModelInForce>& models) { return models.at(0).places.at(0); }

TEST(PointsInForce, TakesTheNewestRunOfEachPoint) {
  const std::vector runs = {run(1, {point(1, 100), point(2, 150)}), run(2, {point(2, 170), point(4, 300)})};
  const auto models = points_in_force(runs, {});
  ASSERT_EQ(models.size(), 1U);
  ASSERT_EQ(models[0].places.size(), 1U);
  const auto& points = only_place(models).points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0], (PointInForce{.measured = point(1, 100), .run = 1}));
  EXPECT_EQ(points[1], (PointInForce{.measured = point(2, 170), .run = 2}));
  EXPECT_EQ(points[2], (PointInForce{.measured = point(4, 300), .run = 2}));
  EXPECT_EQ(points_in_force(std::vector{runs[1], runs[0]}, {}), models);  // whatever their order
}

TEST(PointsInForce, KeepsMachinesAndLabelsApart) {
  std::vector runs = {run(1, {point(1, 100)}), run(2, {point(1, 200)}), run(3, {point(1, 300)}),
                      run(4, {point(1, 400)})};
  runs[1].machine.threads = 2;
  runs[2].label = "A30-24GB:1g.6gb";
  runs[3].label = "A30-24GB:1g.6gb";
  runs[3].machine.processor = "Q";
  const auto models = points_in_force(runs, {});
  ASSERT_EQ(models.size(), 1U);
  ASSERT_EQ(models[0].places.size(), 3U);
  EXPECT_EQ(models[0].places[2].label, "A30-24GB:1g.6gb");
  EXPECT_EQ(models[0].places[2].points[0].run, 4);  // a label is one place
}

TEST(PointsInForce, CountsTheNewestContentOfAName) {
  std::vector runs = {run(1, {point(1, 100), point(8, 800)}), run(2, {point(1, 50)}), run(3, {point(2, 60)})};
  runs[0].model.sha256 = "bb";
  runs[2].model.sha256 = "";  // it says nothing about the content
  const auto models = points_in_force(runs, {});
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].model.sha256, "aa");
  const auto& points = only_place(models).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].run, 2);
  EXPECT_EQ(points[1].run, 3);
}

TEST(PointsInForce, KeepsFiguresThatTheNewestRunDoesNotKnow) {
  std::vector runs = {run(1, {}), run(2, {})};
  runs[0].model.flops = 12;
  runs[0].model.weight_bytes = 7;
  runs[1].model.weight_bytes = 8;
  const auto models = points_in_force(runs, {});
  EXPECT_EQ(models[0].model.flops, 12);
  EXPECT_EQ(models[0].model.weight_bytes, 8);
  EXPECT_EQ(models[0].model.parameters, std::nullopt);
}

TEST(PointsInForce, ReplacesFrom200BatchesOn) {
  const std::vector runs = {run(1, {point(1, 100), point(2, 200), point(2, 250, 2)})};
  const auto models = points_in_force(runs, std::vector{sum(1, 199, 101), sum(2, 200, 201), sum(4, 500, 400)});
  const auto& points = only_place(models).points;
  ASSERT_EQ(points.size(), 3U);  // batch 4 was not measured
  EXPECT_FALSE(points[0].is_replaced());
  EXPECT_TRUE(points[1].is_replaced());
  EXPECT_DOUBLE_EQ(points[1].observed->mean_us, 201);
  EXPECT_EQ(points[1].observed->count, 200);
  EXPECT_EQ(points[2].observed, std::nullopt);  // two processes
  EXPECT_FALSE(points[1].is_drift());
}

TEST(PointsInForce, AddsUpWhatServersObserved) {
  auto other = sum(1, 100, 300);
  other.url = "http://b";
  other.times.version = "2";
  const std::vector runs = {run(1, {point(1, 100)})};
  const auto models = points_in_force(runs, std::vector{sum(1, 100, 100), other});
  ASSERT_EQ(models[0].places.size(), 1U);
  EXPECT_EQ(only_place(models).points[0].observed->count, 200);
  EXPECT_DOUBLE_EQ(only_place(models).points[0].observed->mean_us, 200);
}

TEST(PointsInForce, MatchesObservedBatchesByContent) {
  std::vector runs = {run(1, {point(1, 100)})};
  auto renamed = sum(1, 300, 150);
  renamed.times.model = "numbers";
  auto changed = sum(1, 70, 900);
  changed.times.sha256 = "cc";
  auto models = points_in_force(runs, std::vector{renamed, changed});
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(only_place(models).points[0].observed->count, 300);
  EXPECT_EQ(models[0].batches_of_other_content, 70);
  runs[0].model.sha256 = "";  // of a URL: the name decides
  models = points_in_force(runs, std::vector{changed});
  EXPECT_EQ(only_place(models).points[0].observed->count, 70);
}

TEST(PointsInForce, MatchesObservedBatchesByDeviceLabelOrUrl) {
  std::vector runs = {run(1, {point(1, 100)})};
  runs[0].machine.device = "other";
  EXPECT_EQ(points_in_force(runs, std::vector{sum(1, 300, 150)})[0].places.size(), 2U);
  runs[0].label = "cpu";
  EXPECT_EQ(points_in_force(runs, std::vector{sum(1, 300, 150)})[0].places.size(), 1U);
  runs[0].label = "";
  runs[0].model.url = "http://a";
  EXPECT_EQ(points_in_force(runs, std::vector{sum(1, 300, 150)})[0].places.size(), 1U);
}

TEST(PointsInForce, ReadsTheNameInTheDeviceOfAServer) {
  EXPECT_EQ(device_name("cpu"), "cpu");
  EXPECT_EQ(device_name("cuda:0: NVIDIA A30"), "NVIDIA A30");
  EXPECT_EQ(device_name("simulated: cuda:0: x"), "cuda:0: x");
  EXPECT_EQ(device_name("A100-80GB:1g.10gb"), "A100-80GB:1g.10gb");
  std::vector runs = {run(1, {point(1, 100)})};
  runs[0].label = "A100-80GB:1g.10gb";
  auto observed = sum(1, 300, 150);
  observed.times.device = "simulated: A100-80GB:1g.10gb";
  EXPECT_EQ(points_in_force(runs, std::vector{observed})[0].places.size(), 1U);
  runs[0] = run(1, {point(1, 100)});
  runs[0].machine.device = "NVIDIA A30";
  observed.times.device = "cuda:0: NVIDIA A30";
  EXPECT_EQ(points_in_force(runs, std::vector{observed})[0].places.size(), 1U);
}

TEST(PointsInForce, ShowsWhatWasOnlyObserved) {
  auto second = sum(1, 300, 150);
  second.times.model = "copy";
  const auto models = points_in_force({}, std::vector{sum(1, 300, 150), second});
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "copy");
  EXPECT_EQ(models[0].model.sha256, "aa");
  ASSERT_EQ(models[0].places[0].points.size(), 1U);
  EXPECT_EQ(models[0].places[0].points[0].run, 0);
  EXPECT_EQ(models[0].places[0].points[0].observed->count, 300);
  EXPECT_FALSE(models[0].places[0].points[0].is_drift());
}

PointInForce observed(double measured_us, const ObservedSum& sum) {
  return only_place(points_in_force(std::vector{run(1, {point(1, measured_us)})}, std::vector{sum})).points[0];
}

TEST(PointInForce, DriftsFromTenPercentOn) {
  EXPECT_TRUE(observed(100, sum(1, 200, 110)).is_drift());
  EXPECT_FALSE(observed(1000, sum(1, 200, 1099)).is_drift());
  EXPECT_TRUE(observed(100, sum(1, 200, 90)).is_drift());
  EXPECT_FALSE(observed(1000, sum(1, 200, 901)).is_drift());
}

TEST(PointInForce, DriftsWithFewBatchesOnlyIfTheirIntervalDoes) {
  EXPECT_FALSE(observed(100, sum(1, 9, 500)).is_drift());
  EXPECT_TRUE(observed(100, sum(1, 10, 130)).is_drift());
  auto noisy = sum(1, 10, 130);
  noisy.times.sum_squares *= 1.5;
  EXPECT_FALSE(observed(100, noisy).is_drift());
  auto noisy_below = sum(1, 10, 80);
  noisy_below.times.sum_squares *= 1.5;
  EXPECT_FALSE(observed(100, noisy_below).is_drift());
  EXPECT_TRUE(observed(100, sum(1, 10, 80)).is_drift());
}

}  // namespace
}  // namespace berth::profile_book
