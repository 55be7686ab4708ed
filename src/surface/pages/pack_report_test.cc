#include "surface/pages/pack_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"

namespace berth::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Three A30, two of them with equal slices, and a name that would be markup.
PackingProblem small_problem() {
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model("A30").value(), .count_max = {}, .micro_usd_per_hour = {}});
  problem.demands = {{"<b>&", "t", Decimal(150), Decimal(200)}, {"idle", "idle", Decimal(0), Decimal(10)}};
  return problem;
}

packing::PackResult small_result(const PackingProblem& problem) {
  const GpuModel& model = problem.offers.front().model;
  const ProfileId half = mig::find_profile(model, "2g.12gb").value();
  packing::PackResult result;
  result.packing.gpu_offers = {0, 0, 0};
  result.packing.slices = {{{GpuId{0}, 0, half}, 0, 8, 2, Decimal(60)},
                           {{GpuId{1}, 0, half}, 0, 8, 2, Decimal(60)},
                           {{GpuId{2}, 2, half}, 0, 8, 2, Decimal(60)}};
  result.unused = {{GpuId{0}, 2, half}, {GpuId{1}, 2, half}, {GpuId{2}, 0, half}};
  result.score = {.gpus = 3, .micro_usd_per_hour = {}, .largest_free = result.unused.front(), .slices = 3};
  result.bound = 2;
  return result;
}

TEST(PackReport, ShowsPlanProofAndDemands) {
  const PackingProblem problem = small_problem();
  const std::string page = render_pack_report(problem, small_result(problem), nullptr);
  EXPECT_THAT(page, HasSubstr("3 A30-24GB serve 2 demands: not proven, at least 2 GPUs are needed."));
  EXPECT_THAT(page, HasSubstr("<b>gpu-0 to gpu-1</b><span>2 × A30-24GB</span>"));
  EXPECT_THAT(page, HasSubstr("<b>gpu-2</b><span>A30-24GB</span>"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">t/&lt;b&gt;&amp;</th>)"));
  EXPECT_THAT(page, HasSubstr("3 × 2g.12gb"));
  EXPECT_THAT(page, HasSubstr("83.33 %"));
  EXPECT_THAT(page, Not(HasSubstr("<b>&")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("p99, ms")));
  EXPECT_EQ(page, render_pack_report(problem, small_result(problem), nullptr));
}

TEST(PackReport, ShowsReplayAndProof) {
  const PackingProblem problem = small_problem();
  packing::PackResult result = small_result(problem);
  result.bound = 3;
  result.is_proven = true;
  study::PackingReplay replay{.seconds = 600, .seeds = {1, 2, 3}, .demands = {}};
  replay.demands.resize(2);
  replay.demands[0].slo_attainment = 0.98996;
  replay.demands[0].latency_p99_ms = 201.25;
  const std::string page = render_pack_report(problem, result, &replay);
  EXPECT_THAT(page, HasSubstr("proven, fewer cannot."));
  EXPECT_THAT(page, HasSubstr("98.99 %"));
  EXPECT_THAT(page, HasSubstr(">201.2<"));
  EXPECT_THAT(page, HasSubstr("600 s with each of 3 seeds"));
}

TEST(PackReport, EmptyPlanAndPrices) {
  PackingProblem problem = small_problem();
  problem.offers.front().micro_usd_per_hour = 1'250'000;
  packing::PackResult result = small_result(problem);
  result.score.micro_usd_per_hour = 3'750'000;
  result.bound = 2'500'000;
  EXPECT_THAT(render_pack_report(problem, result, nullptr),
              HasSubstr("3 A30-24GB serve 2 demands for $3.7500 an hour: not proven, at least $2.5000 an hour is"));
  problem.demands.clear();
  EXPECT_THAT(render_pack_report(problem, {}, nullptr), HasSubstr("No GPU is needed"));
}

}  // namespace
}  // namespace berth::report
