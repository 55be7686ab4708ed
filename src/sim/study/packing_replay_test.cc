#include "sim/study/packing_replay.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"
#include "sim/study/replay.h"

namespace berth::study {
namespace {

Decimal decimal(const char* text) { return Decimal::parse(text).value(); }

PerformancePoint point(const char* profile, int batch, int processes, const char* rate, const char* latency_ms) {
  return {"A30-24GB", profile, batch, processes, decimal(rate), decimal(latency_ms)};
}

/// One A30 in three slices: two 1g for "a" at 100 requests per second each, 2g for "b" at 300; "idle" has rate 0.
PackingProblem three_demands(const char* rate_a, const char* rate_b) {
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model("A30").value(), .count_max = {}, .micro_usd_per_hour = {}});
  problem.demands = {{"a", "a", decimal(rate_a), Decimal(200)},
                     {"idle", "idle", Decimal(0), Decimal(10)},
                     {"b", "t", decimal(rate_b), Decimal(100)}};
  problem.tables = {{"a", {point("1g.6gb", 4, 1, "100", "40")}},
                    {"b", {point("2g.12gb", 6, 2, "300", "40"), point("2g.12gb", 2, 1, "250", "8")}}};
  return problem;
}

Packing plan_of(const PackingProblem& problem) {
  const GpuModel& model = problem.offers.front().model;
  const ProfileId small = mig::find_profile(model, "1g.6gb").value();
  const ProfileId medium = mig::find_profile(model, "2g.12gb").value();
  Packing packing;
  packing.gpu_offers = {0};
  packing.slices = {{{GpuId{0}, 0, small}, 0, 4, 1, Decimal(100)},
                    {{GpuId{0}, 1, small}, 0, 4, 1, Decimal(100)},
                    {{GpuId{0}, 2, medium}, 2, 6, 2, Decimal(300)}};
  return packing;
}

TEST(PackingReplay, ScenarioHasAServiceForEachDemandWithSlices) {
  const PackingProblem problem = three_demands("50", "120.5");
  const Scenario scenario = packing_scenario(problem, plan_of(problem), 60);
  EXPECT_EQ(scenario.gpu_count(), 1U);
  ASSERT_EQ(scenario.services.size(), 2U);
  EXPECT_EQ(scenario.services[1].tenant, "t");
  EXPECT_EQ(scenario.services[1].target_ms, Decimal(100));
  EXPECT_EQ(std::get<Generator>(scenario.services[1].arrivals.source).requests_per_second, decimal("120.5"));
  EXPECT_EQ(scenario.simulated_seconds(), 60);
}

TEST(PackingReplay, LightLoadIsInTimeAndFullLoadIsNot) {
  const PackingProblem light = three_demands("20", "90");
  const PackingReplay easy = replay_packing(light, plan_of(light), {.seconds = 100, .seeds = {1, 2}});
  ASSERT_EQ(easy.demands.size(), 3U);
  EXPECT_DOUBLE_EQ(easy.demands[0].load.value(), 0.1);
  EXPECT_NEAR(static_cast<double>(easy.demands[0].requests), 2 * 100 * 20, 300);
  EXPECT_GT(easy.demands[0].slo_attainment.value(), 0.99);
  EXPECT_GT(easy.demands[2].slo_attainment.value(), 0.99);
  EXPECT_LT(easy.demands[2].latency_p99_ms.value(), 100);
  EXPECT_FALSE(easy.demands[1].load || easy.demands[1].slo_attainment || easy.demands[1].latency_p99_ms);

  const PackingProblem full = three_demands("200", "300");
  const PackingReplay hard = replay_packing(full, plan_of(full), {.seconds = 100, .seeds = {1, 2}});
  EXPECT_DOUBLE_EQ(hard.demands[2].load.value(), 1.0);
  EXPECT_LT(hard.demands[2].slo_attainment.value(), 0.99);
  EXPECT_LE(hard.demands[2].in_time, hard.demands[2].requests);
}

TEST(PackingReplay, RunsThePointsOfThePlan) {
  const PackingProblem problem = three_demands("20", "90");
  Packing packing = plan_of(problem);
  const auto with_default = replay_packing(problem, packing, {.seconds = 60, .seeds = {1}});
  packing.slices[2] = {packing.slices[2].slice, 2, 2, 1, Decimal(250)};
  const auto with_other = replay_packing(problem, packing, {.seconds = 60, .seeds = {1}});
  EXPECT_EQ(with_default.demands[2].requests, with_other.demands[2].requests);
  EXPECT_LT(with_other.demands[2].latency_p99_ms.value(), with_default.demands[2].latency_p99_ms.value());
}

/// A plan at default points is what the policy `fixed` replays.
TEST(PackingReplay, AgreesWithThePolicyFixed) {
  const PackingProblem problem = three_demands("150", "250");
  const Packing packing = plan_of(problem);
  Scenario scenario = packing_scenario(problem, packing, 60);
  scenario.layout = std::vector<Holding>{{packing.slices[0].slice, Role::kInference, {ServiceId{0}}},
                                         {packing.slices[1].slice, Role::kInference, {ServiceId{0}}},
                                         {packing.slices[2].slice, Role::kInference, {ServiceId{1}}}};
  const auto policy = replay_policy(scenario, "fixed", 7, {});
  ASSERT_TRUE(policy.has_value());
  const PackingReplay replay = replay_packing(problem, packing, {.seconds = 60, .seeds = {7}});
  EXPECT_EQ(replay.demands[0].in_time, policy->services[0].figures.in_time);
  EXPECT_EQ(replay.demands[2].in_time, policy->services[1].figures.in_time);
  EXPECT_EQ(replay.demands[2].latency_p99_ms, policy->services[1].figures.latency_p99_ms);
}

TEST(PackingReplay, PoolsItsSeedsAndRepeats) {
  const PackingProblem problem = three_demands("150", "250");
  const Packing packing = plan_of(problem);
  const auto both = replay_packing(problem, packing, {.seconds = 30, .seeds = {4, 5}});
  const auto first = replay_packing(problem, packing, {.seconds = 30, .seeds = {4}});
  const auto second = replay_packing(problem, packing, {.seconds = 30, .seeds = {5}});
  EXPECT_EQ(both.demands[0].requests, first.demands[0].requests + second.demands[0].requests);
  EXPECT_EQ(both.demands[0].in_time, first.demands[0].in_time + second.demands[0].in_time);
  const auto again = replay_packing(problem, packing, {.seconds = 30, .seeds = {4, 5}});
  EXPECT_EQ(again.demands[2].latency_p99_ms, both.demands[2].latency_p99_ms);
}

TEST(PackingReplay, EmptyPlanIsQuiet) {
  PackingProblem problem = three_demands("0", "0");
  const PackingReplay replay = replay_packing(problem, {}, {});
  EXPECT_EQ(replay.demands.size(), 3U);
  EXPECT_EQ(replay.demands[0].requests, 0);
}

}  // namespace
}  // namespace berth::study
