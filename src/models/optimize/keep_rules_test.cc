#include "models/optimize/keep_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace berth::models {
namespace {

using ::testing::HasSubstr;

constexpr ModelFigures kOriginal = {
    .load_us = 1000, .loaded_bytes = 4'000'000, .run_bytes = 10'000'000, .file_bytes = 1'000'000, .nodes = 10};

BatchLatency batch_latency(std::int64_t batch, double ratio, double half_width = 0.01) {
  return {.batch = batch,
          .ratio = {.value = ratio, .low = ratio - half_width, .high = ratio + half_width},
          .original_us = 100,
          .variant_us = 100 * ratio,
          .rounds = 20,
          .is_settled = true};
}

/// 0.6 x the time, 0.5 x memory and file, nothing lost.
VariantFigures good_figures() {
  VariantFigures figures;
  figures.latency = {batch_latency(1, 0.6), batch_latency(8, 0.6)};
  figures.time_ratio = geometric_mean(figures.latency);
  figures.model = {.run_bytes = 5'000'000, .file_bytes = 500'000};
  return figures;
}

TEST(GeometricMean, OfOneIsThatOne) {
  const IntervalFigure mean = geometric_mean({batch_latency(1, 0.8, 0.1)});
  EXPECT_NEAR(mean.value, 0.8, 1e-12);
  EXPECT_NEAR(mean.low, 0.7, 1e-12);
  EXPECT_NEAR(mean.high, 0.9, 1e-12);
}

TEST(GeometricMean, OfTwoIsNarrowerByTheSquareRoot) {
  BatchLatency half = batch_latency(1, 0.5);
  half.ratio = {.value = 0.5, .low = 0.5 / 1.1, .high = 0.5 * 1.1};
  BatchLatency twice = half;
  twice.ratio = {.value = 2, .low = 2 / 1.1, .high = 2 * 1.1};
  const IntervalFigure mean = geometric_mean({half, twice});
  EXPECT_NEAR(mean.value, 1, 1e-12);
  EXPECT_NEAR(std::log(mean.high), std::log(1.1) / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(std::log(mean.low), -std::log(1.1) / std::sqrt(2.0), 1e-12);
}

struct RefusalCase {
  std::string name;
  Goal goal = Goal::kLatency;
  std::function<void(VariantFigures&)> change;
  std::string reason;  ///< part of it; empty: kept
};

class Refusals : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(Refusals, FollowTheRules) {
  VariantFigures figures = good_figures();
  GetParam().change(figures);
  OptimizeTerms terms;
  terms.goal = GetParam().goal;
  const auto reason = refusal(figures, kOriginal, terms, Metric::kAccuracy);
  if (GetParam().reason.empty()) {
    EXPECT_EQ(reason, std::nullopt);
  } else {
    ASSERT_TRUE(reason.has_value());
    EXPECT_THAT(*reason, HasSubstr(GetParam().reason));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Keep, Refusals,
    ::testing::Values(
        RefusalCase{"Good", Goal::kLatency, [](VariantFigures&) {}, ""},
        RefusalCase{"LossAtTheLimit", Goal::kLatency, [](VariantFigures& f) { f.judging.loss.value = 0.005; }, ""},
        RefusalCase{"WideIntervalOfALoss", Goal::kLatency,
                    [](VariantFigures& f) { f.judging.loss = {.value = 0.001, .low = -0.1, .high = 0.1}; }, ""},
        RefusalCase{"LossOfTheChoosingHalf", Goal::kLatency, [](VariantFigures& f) { f.choosing.loss.value = 0.0051; },
                    "0.51 points on the rows that choose"},
        RefusalCase{"LossOfTheJudgingHalf", Goal::kLatency, [](VariantFigures& f) { f.judging.loss.value = 0.02; },
                    "2.00 points on the rows that judge"},
        RefusalCase{"TooLittleGain", Goal::kLatency,
                    [](VariantFigures& f) { f.time_ratio = {.value = 0.89, .low = 0.87, .high = 0.91}; },
                    "takes 0.89 x the time"},
        RefusalCase{"JustEnoughGain", Goal::kLatency,
                    [](VariantFigures& f) { f.time_ratio = {.value = 0.88, .low = 0.86, .high = 0.90}; }, ""},
        RefusalCase{"OneBatchSurelySlower", Goal::kLatency,
                    [](VariantFigures& f) { f.latency[0] = batch_latency(1, 1.08, 0.02); }, "batch 1 takes 1.08 x"},
        RefusalCase{"OneBatchPerhapsSlower", Goal::kLatency,
                    [](VariantFigures& f) { f.latency[0] = batch_latency(1, 1.08, 0.04); }, ""},
        RefusalCase{"Memory", Goal::kMemory, [](VariantFigures& f) { f.time_ratio = {1, 1, 1}; }, ""},
        RefusalCase{"TooMuchMemory", Goal::kMemory, [](VariantFigures& f) { f.model.run_bytes = 7'100'000; },
                    "0.71 x the memory"},
        RefusalCase{"MemorySlower", Goal::kMemory, [](VariantFigures& f) { f.latency[1] = batch_latency(8, 1.2); },
                    "batch 8"},
        RefusalCase{"File", Goal::kFile, [](VariantFigures& f) { f.model.file_bytes = 700'000; }, ""},
        RefusalCase{"TooLargeFile", Goal::kFile, [](VariantFigures& f) { f.model.file_bytes = 710'000; },
                    "0.71 x the bytes"}),
    [](const auto& each) { return each.param.name; });

TEST(Recommendation, IsTheBestKeptOneByTheGoal) {
  VariantRecord fast = {.name = "fuse+int8", .is_kept = true, .figures = good_figures()};
  VariantRecord small = {.name = "fuse+prune", .is_kept = true, .figures = good_figures()};
  small.figures->time_ratio.value = 0.7;
  small.figures->model.file_bytes = 100'000;
  VariantRecord refused = fast;
  refused.name = "fuse+prune+int8";
  refused.is_kept = false;
  refused.figures->time_ratio.value = 0.1;
  const std::vector<VariantRecord> variants = {small, refused, fast};
  EXPECT_EQ(recommendation(variants, kOriginal, Goal::kLatency), "fuse+int8");
  EXPECT_EQ(recommendation(variants, kOriginal, Goal::kFile), "fuse+prune");
  EXPECT_EQ(recommendation({refused}, kOriginal, Goal::kLatency), "");
}

}  // namespace
}  // namespace berth::models
