#include "tier/evaluate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tier/evaluate/estimators.h"
#include "tier/evaluate/evaluation_text.h"
#include "tier/evaluate/leave_file.h"
#include "tier/evaluate/ratio_spread.h"

namespace berth::tier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Tiers a, b, c that cost 1, 2 and 4 USD per hour.
std::vector<Tier> three_tiers() {
  return {{.name = "a", .usd_per_hour = Decimal(1)},
          {.name = "b", .usd_per_hour = Decimal(2)},
          {.name = "c", .usd_per_hour = Decimal(4)}};
}

/// A job with these rates by tier; 0: no row.
TierWorkload job(const std::string& group, const std::vector<int>& rates) {
  TierWorkload workload{.group = group, .name = "batch 1"};
  for (const int rate : rates) {
    workload.points.emplace_back();
    if (rate > 0) workload.points.back().push_back({.samples_per_second = Decimal(rate)});
  }
  return workload;
}

TierTable jobs(std::vector<TierWorkload> workloads) {
  return {.kind = TierKind::kJobs, .tiers = three_tiers(), .workloads = std::move(workloads)};
}

TierPoint point(int batch, int processes, int rate, int latency_ms) {
  return {
      .batch = batch, .processes = processes, .samples_per_second = Decimal(rate), .latency_ms = Decimal(latency_ms)};
}

TEST(Cases, JobsHaveTheirFractionsOfTheLargestRate) {
  const TierTable table = jobs({job("m", {10, 0, 40}), job("n", {7, 0, 0})});
  const auto cases = cases_of(table, 2, {});
  ASSERT_EQ(cases.size(), 6U) << "a workload on one tier does not count";
  EXPECT_EQ(cases[0].target.per_second, Decimal(0));
  EXPECT_EQ(cases[1].target.per_second, Decimal(12));
  EXPECT_EQ(cases[5].target.per_second, Decimal(38));
}

TierTable services() {
  TierWorkload service{
      .group = "m", .name = "w", .points = {{point(1, 1, 10, 9)}, {}, {point(1, 1, 50, 9), point(4, 1, 90, 18)}}};
  TierWorkload without{.group = "n", .name = "w", .points = {{point(1, 1, 10, 9)}, {}, {point(2, 1, 50, 9)}}};
  return {.kind = TierKind::kServices, .tiers = three_tiers(), .workloads = {service, without}};
}

TEST(Cases, ServicesHaveLatenciesAndRatesOfTheReference) {
  const TierTable table = services();
  const auto cases = cases_of(table, 2, {});
  ASSERT_EQ(cases.size(), 20U) << "one without a row of batch 1 and one process on the reference does not count";
  EXPECT_EQ(cases[0].target.latency_ms, Decimal(23));
  EXPECT_EQ(cases[0].target.per_second, Decimal(15 * 50, 100));
  EXPECT_EQ(cases[8].target.latency_ms, Decimal(50));
  EXPECT_EQ(cases[11].target.per_second, Decimal(5 * 90)) << "18 ms is usable below 0.45 x 50 ms";
}

TEST(Cases, ALatencyAtTheLimitIsNotUsable) {
  const CaseSettings twice{.latencies = {Decimal(2)}, .rates = {Decimal(1)}};
  EXPECT_EQ(cases_of(services(), 2, twice)[0].target.per_second, Decimal(50)) << "18 ms is not below 0.45 x 40 ms";
}

TEST(Truth, OfJobs) {
  const TierTable table = jobs({job("m", {10, 20, 20})});
  const CaseTruth free = truth_of(table, 2, {.workload = 0, .target = {.per_second = Decimal(0)}});
  EXPECT_EQ(free.anchor, 0U);
  EXPECT_EQ(free.best, 0U) << "1/10 and 2/20 cost the same: the cheaper tier";
  const CaseTruth exact = truth_of(table, 2, {.workload = 0, .target = {.per_second = Decimal(20)}});
  EXPECT_FALSE(exact.keeps(0));
  EXPECT_TRUE(exact.keeps(1)) << "x = T keeps it";
  EXPECT_EQ(exact.miss_cost, Decimal(2, 20)) << "of two equally fast tiers the cheaper";
  EXPECT_EQ(exact.charged(0), Decimal(2, 20));
}

TEST(Truth, OfServices) {
  const TierTable table = services();
  const CaseTruth truth =
      truth_of(table, 2, {.workload = 0, .target = {.per_second = Decimal(91), .latency_ms = Decimal(50)}});
  EXPECT_EQ(truth.charged(0), Decimal(10)) << "ceil(91 / 10) slices";
  EXPECT_EQ(truth.charged(2), Decimal(8)) << "ceil(91 / 90) slices";
  EXPECT_FALSE(truth.has(1));
  EXPECT_EQ(truth.best, 2U);
}

/// Measures tiers in a fixed order while it may, and takes `take`.
DecideFunction fixed(std::vector<std::size_t> order, std::size_t take, double probability) {
  return [=](const DecideCall& call) {
    Decision decision{.take = take, .probability = probability};
    for (const std::size_t tier : order) {
      if (call.measurements_left > 0 && call.known->points[tier].empty()) {
        decision.measure = tier;
        return decision;
      }
    }
    return decision;
  };
}

std::vector<TierEstimate> no_estimate(const TierWorkload& known, const TierTarget& /*target*/) {
  return std::vector<TierEstimate>(known.points.size());
}

TEST(TestRun, SeesOnlyTheAnchorAndWhatItMeasured) {
  const TierTable table = jobs({job("m", {10, 20, 30})});
  const TierCase of{.workload = 0, .target = {.per_second = Decimal(0)}};
  std::vector<int> known_counts;
  const auto estimate = [&](const TierWorkload& known, const TierTarget& target) {
    int count = 0;
    for (const auto& points : known.points) count += static_cast<int>(points.size());
    known_counts.push_back(count);
    return no_estimate(known, target);
  };
  const TestRun run = run_decision(table, of, truth_of(table, 2, of), estimate,
                                   {.decide = fixed({2, 1}, 1, 0.7), .measurements_max = 1});
  EXPECT_THAT(run.measured, ElementsAre(2U));
  EXPECT_THAT(known_counts, ElementsAre(1, 2));
  EXPECT_EQ(run.chosen, 1U);
  EXPECT_EQ(run.probability, 0.7);
}

TEST(TestRun, StepUp) {
  const TierTable table = jobs({job("m", {10, 20, 30})});
  const auto chosen = [&](int target, int measurements) {
    return run_step_up(truth_of(table, 2, {.workload = 0, .target = {.per_second = Decimal(target)}}), measurements);
  };
  EXPECT_EQ(chosen(5, 0).chosen, 0U);
  EXPECT_EQ(chosen(25, 0).chosen, 1U) << "the next one by price";
  EXPECT_EQ(chosen(15, 1).chosen, 1U);
  EXPECT_EQ(chosen(25, 1).chosen, 2U);
  EXPECT_EQ(chosen(25, 9).chosen, 2U);
  EXPECT_EQ(chosen(25, 1).measured.size(), 1U);
  EXPECT_EQ(chosen(25, 9).measured.size(), 2U);
}

EstimatorMaker recording(std::vector<std::vector<std::string>>& left_out) {
  return [&left_out](const TierTable& /*table*/, std::span<const std::string> groups) -> Result<EstimateFunction> {
    left_out.emplace_back(groups.begin(), groups.end());
    return EstimateFunction(no_estimate);
  };
}

TEST(Evaluate, LeavesModelsOutAloneOrTogether) {
  const TierTable table = jobs(
      {job("m", {10, 20, 0}), job("n", {10, 20, 0}), job("m", {1, 2, 0}), job("o", {5, 6, 0}), job("p", {0, 0, 3})});
  std::vector<std::vector<std::string>> left_out;
  EvaluateCall call{.table = &table,
                    .reference = 2,
                    .decision = {.decide = fixed({}, 0, 1)},
                    .estimated = {{"ours", recording(left_out)}}};
  ASSERT_TRUE(evaluate(call));
  EXPECT_THAT(left_out, ElementsAre(ElementsAre("m"), ElementsAre("n"), ElementsAre("o")));
  left_out.clear();
  call.leave = {{"m", "x"}, {"o", "x"}, {"p", "x"}, {"n", "m"}};
  ASSERT_TRUE(evaluate(call));
  EXPECT_THAT(left_out, ElementsAre(ElementsAre("m", "o", "p"), ElementsAre("n")));
}

TEST(Evaluate, OrdersPoliciesAndRefusesDataWithoutCases) {
  const TierTable table = jobs({job("m", {10, 20, 0})});
  std::vector<std::vector<std::string>> left_out;
  EvaluateCall call{
      .table = &table,
      .reference = 2,
      .decision = {.decide = fixed({}, 0, 1)},
      .estimated = {{"ours", recording(left_out)}, {"p", recording(left_out)}, {"q", recording(left_out)}}};
  const auto evaluation = evaluate(call);
  ASSERT_TRUE(evaluation);
  std::vector<std::string> names;
  for (const PolicyRuns& policy : evaluation->policies) names.push_back(policy.policy);
  EXPECT_THAT(names, ElementsAre("ours", "cheapest", "biggest", "step-up", "p", "q"));
  const TierTable none = jobs({job("m", {10, 0, 0})});
  call.table = &none;
  const auto refused = evaluate(call);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("wanted a workload with rows on at least two"));
}

TEST(PolicyFigures, RatiosMissesAndCalibration) {
  const TierTable table = jobs({job("m", {10, 20, 20})});
  const CaseTruth truth = truth_of(table, 2, {.workload = 0, .target = {.per_second = Decimal(15)}});
  const std::vector<CaseTruth> truths(4, truth);
  const std::vector<TestRun> runs = {{.measured = {1}, .chosen = 1, .probability = 1.0},
                                     {.chosen = 2, .probability = 0.95},
                                     {.chosen = 0, .probability = 0.8},
                                     {.chosen = 2, .probability = 0.85}};
  const PolicyFigures figures = figures_of("p", truths, runs);
  EXPECT_EQ(figures.ratio_mean, Decimal(6, 4)) << "1, 2, a miss that costs as much as b, 2";
  EXPECT_EQ(figures.ratio_p50, Decimal(1)) << "the second of four";
  EXPECT_EQ(figures.ratio_p95, Decimal(2));
  EXPECT_EQ(figures.missed, Decimal(1, 4));
  EXPECT_EQ(figures.measurements_mean, Decimal(1, 4));
  ASSERT_EQ(figures.calibration.size(), 4U);
  EXPECT_EQ(figures.calibration[2].case_count, 2U);
  EXPECT_DOUBLE_EQ(figures.calibration[2].stated, 0.825);
  EXPECT_DOUBLE_EQ(figures.calibration[2].kept, 0.5);
  EXPECT_EQ(figures.calibration[3].case_count, 2U);
  EXPECT_TRUE(figures_of("q", truths, std::vector<TestRun>(4, TestRun{.chosen = 1})).calibration.empty());
}

TEST(EvaluationText, JsonAndLog) {
  const TierTable table = jobs({job("m", {10, 20, 0})});
  std::vector<std::vector<std::string>> left_out;
  const auto evaluation = evaluate({.table = &table,
                                    .reference = 2,
                                    .cases = {.fractions = {Decimal(7, 10)}},
                                    .decision = {.decide = fixed({1}, 1, 1), .measurements_max = 2},
                                    .estimated = {{"ours", recording(left_out)}}});
  ASSERT_TRUE(evaluation);
  EXPECT_THAT(
      evaluation_log(table, *evaluation),
      ElementsAre("{\"group\":\"m\",\"workload\":\"batch 1\",\"target\":14.0,\"anchor\":\"a\",\"measured\":[\"b\"],"
                  "\"chosen\":\"b\",\"probability\":1.0,\"cost\":0.1,\"best\":\"b\",\"best_cost\":0.1,"
                  "\"kept\":true}\n"));
  EXPECT_THAT(evaluation_json("csv", *evaluation, 2),
              HasSubstr("{\"berth\":1,\"format\":\"csv\",\"cases\":1,\"policies\":[{\"policy\":\"ours\",\"measure\":2,"
                        "\"ratio_mean\":1.0,\"ratio_p50\":1.0,\"ratio_p95\":1.0,\"missed\":0.0,"
                        "\"measurements_mean\":1.0,\"calibration\":[{\"from\":0.0,\"cases\":0,"));
}

TEST(LeaveFile, ReadsGroupsOfModels) {
  const auto groups = read_leave_file("model,group\nresnet50,resnet\nresnet18,resnet\n", "l.csv");
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->at("resnet18"), "resnet");
  const auto twice = read_leave_file("model,group\na,b\na,c\n", "l.csv");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("l.csv:3:1: model: wanted each model once"));
  EXPECT_FALSE(read_leave_file("model,group\n", "l.csv"));
  EXPECT_FALSE(read_leave_file("model,group\na,\n", "l.csv"));
}

/// Groups in which b is twice and c three times as fast as a.
TierTable proportional() {
  return jobs({job("m", {10, 20, 30}), job("n", {20, 40, 60}), job("o", {30, 60, 90}), job("p", {15, 30, 45})});
}

TEST(Nearest, PredictsTheRatiosOfTheOthers) {
  const TierTable table = proportional();
  const std::vector<std::string> left_out = {"m"};
  const auto estimate = make_nearest(table, left_out);
  ASSERT_TRUE(estimate) << estimate.error().message;
  const auto estimates = (*estimate)(job("m", {10, 0, 0}), {.per_second = Decimal(15)});
  ASSERT_EQ(estimates.size(), 3U);
  EXPECT_TRUE(estimates[0].is_measured);
  EXPECT_EQ(estimates[0].probability, 0);
  EXPECT_DOUBLE_EQ(estimates[0].cost, 0.1);
  EXPECT_EQ(estimates[0].cost_mean, std::numeric_limits<double>::infinity());
  EXPECT_NEAR(estimates[1].per_second, 20, 1e-9);
  EXPECT_NEAR(estimates[2].per_second, 30, 1e-9);
  EXPECT_LT(estimates[1].per_second_p10, estimates[1].per_second);
  EXPECT_GT(estimates[1].per_second_p90, estimates[1].per_second);
  EXPECT_GT(estimates[1].probability, 0.99);
}

TEST(Nearest, AMeasurementFindsAMoreSimilarWorkloadAndCorrectsOtherTiers) {
  // In each group b and c are off by the same factor.
  const TierTable table = jobs({job("m", {10, 20, 40}), job("n", {10, 30, 60}), job("o", {10, 15, 30}),
                                job("p", {10, 25, 50}), job("q", {10, 12, 24}), job("r", {10, 40, 80})});
  const std::vector<std::string> left_out = {"r"};
  const auto estimate = make_nearest(table, left_out);
  ASSERT_TRUE(estimate);
  const TierTarget target{.per_second = Decimal(70)};
  const double before = (*estimate)(job("r", {10, 0, 0}), target)[2].per_second;
  const double after = (*estimate)(job("r", {10, 40, 0}), target)[2].per_second;
  EXPECT_DOUBLE_EQ(before, 40) << "all are equally similar: the first";
  EXPECT_GT(after, 60) << "the most similar one is n, and b is faster than there";
  EXPECT_LT(after, 90);
}

TEST(Nearest, NeedsTwoGroups) {
  const TierTable table = jobs({job("m", {10, 20, 40}), job("n", {10, 30, 60})});
  const std::vector<std::string> left_out = {"m"};
  EXPECT_FALSE(make_nearest(table, left_out));
}

TEST(RatioSpread, SolvePositive) {
  EXPECT_THAT(solve_positive({4, 2, 2, 3}, {10, 9}), ElementsAre(1.5, 2.0));
  EXPECT_TRUE(solve_positive({0}, {1}).empty());
}

}  // namespace
}  // namespace berth::tier
