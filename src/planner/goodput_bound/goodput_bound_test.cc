#include "planner/goodput_bound/goodput_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"

namespace berth::bound {
namespace {

constexpr std::array kSharing = {1.0, 1.43, 1.86};

/// One measured row of an A100-80GB.
struct Row {
  std::string profile = "7g.80gb";
  int batch = 1;
  int processes = 1;
  std::int64_t latency_ms = 10;
};

ServiceSpec service_with(const std::vector<Row>& rows, std::int64_t seconds) {
  ServiceSpec service;
  service.name = service.tenant = "s";
  service.target_ms = Decimal(100);
  service.target = Micros(100'000);
  service.start = Micros(0);
  service.arrivals.seconds = seconds;
  for (const Row& row : rows) {
    service.table.points.push_back(
        {.gpu = "A100-80GB",
         .profile = row.profile,
         .batch = row.batch,
         .processes = row.processes,
         .requests_per_second = Decimal(std::int64_t{1000} * row.batch * row.processes, row.latency_ms),
         .latency_ms = Decimal(row.latency_ms)});
  }
  return service;
}

Scenario scenario_with(std::vector<ServiceSpec> services, std::int64_t gpu_count = 1) {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("A100-80GB"), .count = gpu_count, .usd_per_gpu_hour = std::nullopt}};
  scenario.services = std::move(services);
  return scenario;
}

/// counts[service][second], evenly spaced in it.
KnownArrivals evenly(std::vector<std::vector<std::int64_t>> counts) {
  const auto count = [counts](ServiceId service, std::int64_t second) {
    const auto& own = counts[service.index];
    return second < static_cast<std::int64_t>(own.size()) ? own[static_cast<std::size_t>(second)] : 0;
  };
  return {.count = count, .offsets = [count](ServiceId service, std::int64_t second, std::vector<std::uint32_t>& out) {
            const std::int64_t all = count(service, second);
            out.clear();
            for (std::int64_t i = 0; i < all; ++i) out.push_back(static_cast<std::uint32_t>(i * 1'000'000 / all));
          }};
}

Bound bound_of(const Scenario& scenario, std::vector<std::vector<std::int64_t>> counts) {
  return *goodput_bound(scenario, evenly(std::move(counts)), kSharing, {});
}

std::vector<std::int64_t> constant(std::int64_t per_second, std::int64_t seconds) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(seconds), per_second);
}

/// At least the optimum, and at most `tolerance` above it.
void expect_tight(const Goodputs& bound, double optimum, double tolerance = 0.01) {
  ASSERT_TRUE(bound.goodput && bound.goodput_mean_of_services);
  EXPECT_GE(*bound.goodput, optimum - 1e-9);
  EXPECT_LE(*bound.goodput, optimum * (1 + tolerance));
  EXPECT_GE(*bound.goodput_mean_of_services, optimum - 1e-9);
  EXPECT_LE(*bound.goodput_mean_of_services, optimum * (1 + tolerance));
}

TEST(GoodputBound, IsCapacityOverArrivalsUnderConstantOverload) {
  // 100 per second of 200, of accuracy 0.9.
  Scenario scenario = scenario_with({service_with({Row{}}, 60)});
  scenario.services[0].accuracy = {.before_micro = 900'000, .after_micro = 900'000};
  expect_tight(bound_of(scenario, {constant(200, 60)}).without_sharing, 0.45);
  // One service has no other to share with.
  expect_tight(bound_of(scenario, {constant(200, 60)}).any, 0.45);
}

TEST(GoodputBound, IsTheAccuracyWhereThereIsRoom) {
  Scenario scenario = scenario_with({service_with({Row{}}, 20)});
  scenario.services[0].accuracy = {.before_micro = 800'000, .after_micro = 800'000};
  EXPECT_EQ(bound_of(scenario, {constant(20, 20)}).any, (Goodputs{.goodput = 0.8, .goodput_mean_of_services = 0.8}));
}

TEST(GoodputBound, IsAbsentOverNothing) {
  EXPECT_EQ(bound_of(scenario_with({service_with({Row{}}, 20)}), {{}}), Bound{});
}

TEST(GoodputBound, IsNothingWhereNoSliceAnswersInTime) {
  const Scenario scenario = scenario_with({service_with({{.latency_ms = 101}}, 20)});
  EXPECT_EQ(bound_of(scenario, {constant(20, 20)}).any, (Goodputs{.goodput = 0, .goodput_mean_of_services = 0}));
}

TEST(GoodputBound, CutsTheGpuTheBestWay) {
  // Seven slices of 30 per second beat the whole GPU's 100.
  const Scenario scenario =
      scenario_with({service_with({Row{}, {.profile = "1g.10gb", .batch = 3, .latency_ms = 100}}, 30)}, 2);
  // A batch of three takes the whole target: its requests would have to arrive at the same time, and at most two do so,
  // to the accuracy of the bins.
  EXPECT_LE(*bound_of(scenario, {constant(600, 30)}).without_sharing.goodput, 14 * 20.0 / 600 + 1e-3);
  const Scenario quick =
      scenario_with({service_with({Row{}, {.profile = "1g.10gb", .batch = 1, .latency_ms = 33}}, 30)}, 2);
  expect_tight(bound_of(quick, {constant(600, 30)}).without_sharing, 14 / 0.033 / 600);
}

TEST(GoodputBound, UsesEveryPointThatAPlanMayName) {
  // Slower than the default rule allows, and with more processes.
  Scenario scenario = scenario_with({service_with({Row{}, {.batch = 1, .processes = 5, .latency_ms = 40}}, 30)});
  scenario.services[0].batching = {.slo_factor = Decimal(2, 10), .processes_max = 1};
  expect_tight(bound_of(scenario, {constant(500, 30)}).without_sharing, 125.0 / 500);
}

TEST(GoodputBound, GivesAVariantItsOwnAccuracy) {
  Scenario scenario = scenario_with({service_with({Row{}}, 40)});
  const ServiceSpec quick = service_with({{.latency_ms = 5}}, 40);
  scenario.services[0].variants.push_back(
      {.name = "int8", .table = quick.table, .accuracy = {.before_micro = 700'000, .after_micro = 700'000}});
  // Of 150: x by the model, 150 - x by the variant, where x / 100 + (150 - x) / 200 = 1.
  expect_tight(bound_of(scenario, {constant(150, 40)}).without_sharing, (50 + 0.7 * 100) / 150);
}

TEST(GoodputBound, LetsWorkWaitUntilTheTargetAndNoLonger) {
  // 400 in the first second, 100 answered per second: with a target of 2 s, 300 within 3 s.
  Scenario scenario = scenario_with({service_with({Row{}}, 10)});
  scenario.services[0].target_ms = Decimal(2000);
  scenario.services[0].target = Micros::seconds(2);
  expect_tight(bound_of(scenario, {{400}}).without_sharing, 300.0 / 400, 0.05);
  scenario.services[0].target = Micros(100'000);
  expect_tight(bound_of(scenario, {{400}}).without_sharing, 110.0 / 400, 0.1);
}

Scenario with_retraining(std::int64_t seconds_on, bool keeps) {
  Scenario scenario = scenario_with({service_with({Row{}}, 200)});
  scenario.services[0].accuracy = {.before_micro = 500'000, .after_micro = 1'000'000};
  scenario.services[0].retraining = Retraining{.every = Micros::seconds(100),
                                               .offset = Micros(0),
                                               .swap = Micros(0),
                                               .keeps_unfinished = keeps,
                                               .time_on = {{7, Micros::seconds(seconds_on)}}};
  return scenario;
}

TEST(GoodputBound, PaysForARetrainingThatBlocksTheOnlySlice) {
  // Of every 100 s, 20 are lost and 80 are fresh.
  expect_tight(bound_of(with_retraining(20, false), {constant(100, 200)}).without_sharing, 0.8);
  // 60 s lost and 40 fresh are less than 100 stale.
  expect_tight(bound_of(with_retraining(60, false), {constant(100, 200)}).without_sharing, 0.5, 0.03);
}

TEST(GoodputBound, KeepsAnUnfinishedRetrainingOnlyWhereItMay) {
  // 120 s do not fit between two due times. Kept, it is done at 120 s: 80 fresh seconds, and 80 stale ones at half.
  expect_tight(bound_of(with_retraining(120, false), {constant(10, 200)}).without_sharing, 0.5);
  const double kept = *bound_of(with_retraining(120, true), {constant(10, 200)}).without_sharing.goodput;
  EXPECT_GT(kept, 0.6);
}

TEST(GoodputBound, TakesTheBetterAccuracyWhereRetrainingWouldHarm) {
  Scenario scenario = with_retraining(10, false);
  scenario.services[0].accuracy = {.before_micro = 900'000, .after_micro = 400'000};
  expect_tight(bound_of(scenario, {constant(50, 200)}).without_sharing, 0.9);
}

TEST(GoodputBound, SharingGainsWhatTheFactorsLeave) {
  // Whole GPUs of 100 per second each; two services share one: 100 x (1 + 1 / 1.43) together, not less than 2 / 1.43.
  const Scenario scenario = scenario_with({service_with({Row{}}, 30), service_with({Row{}}, 30)});
  const Bound bound = bound_of(scenario, {constant(100, 30), constant(100, 30)});
  expect_tight(bound.any, (1 + 1 / 1.43) / 2);
  expect_tight(bound.without_sharing, 0.5);
}

TEST(GoodputBound, WeighsServices) {
  Scenario scenario = scenario_with({service_with({Row{}}, 30), service_with({Row{}}, 30)});
  scenario.services[0].weight = Decimal(3);
  const Goodputs bound = bound_of(scenario, {constant(100, 30), constant(100, 30)}).without_sharing;
  EXPECT_NEAR(*bound.goodput_mean_of_services, 0.75, 0.01);
  EXPECT_NEAR(*bound.goodput, 0.5, 0.01);
}

TEST(GoodputBound, IsNeverBelowWhenLessIsKnown) {
  const Scenario scenario = with_retraining(20, true);
  const KnownArrivals known = evenly({constant(130, 200)});
  const KnownArrivals counted{.count = known.count, .offsets = {}};
  const auto fine = goodput_bound(scenario, known, kSharing, {});
  const auto rough = goodput_bound(scenario, counted, kSharing, {});
  EXPECT_GE(*rough->any.goodput, *fine->any.goodput - 2e-3);
}

TEST(GoodputBound, StopsWhenAskedTo) {
  const Scenario scenario = with_retraining(20, true);
  EXPECT_FALSE(goodput_bound(scenario, evenly({constant(100, 200)}), kSharing, [](double done) { return done < 0.3; }));
}

}  // namespace
}  // namespace berth::bound
