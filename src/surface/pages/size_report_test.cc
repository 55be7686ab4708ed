#include "surface/pages/size_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace berth::report {
namespace {

study::CountTrial trial(std::int64_t gpus, std::int64_t in_time_of_1000, bool holds) {
  return {.gpus = gpus,
          .holds = holds,
          .seeds = {{.holds = holds,
                     .infeasible = std::nullopt,
                     .worst = study::ServiceAttainment{.service = "s", .in_time = in_time_of_1000, .requests = 1000}}}};
}

study::SizeResult sizes() {
  study::PolicySize shared;
  shared.name = "shared";
  shared.gpus = 4;
  shared.is_smallest_proven = true;
  shared.cost_micro_usd = 4'000'000;
  shared.at_answer.emplace();
  shared.at_answer->figures.goodput_mean_of_services = 0.75;
  shared.at_answer->figures.utilisation = {.allocated = 1, .busy = 0.5, .effective = 0.25};
  shared.tried = {trial(2, 900, false), trial(4, 995, true)};
  study::PolicySize even = shared;
  even.name = "static-even";
  even.gpus = 3;
  even.is_stable = false;
  even.gpus_by_seed = {3, 2, std::nullopt};
  even.at_answer->how = "how <it> went";
  even.at_answer->ignores = {{"s", ConstraintKind::kFloor}};
  even.at_answer->notes = {"SM counts are estimated"};
  even.cost_micro_usd.reset();
  even.at_answer->figures.goodput_mean_of_services.reset();
  even.tried = {trial(3, 991, true)};
  study::PolicySize paris;
  paris.name = "paris";
  paris.infeasible = "no count <up> to 4";
  paris.tried = {trial(4, 500, false)};
  study::SizeResult result;
  result.scenario = "a<b>&\".yaml";
  result.gpu_model = "A30-24GB";
  result.policies = {shared, even, paris};
  return result;
}

bool has(const std::string& page, std::string_view text) { return page.find(text) != std::string::npos; }

TEST(SizeReport, ShowsTheThreeFigures) {
  const std::string page = render_size_report(sizes());
  EXPECT_TRUE(has(page,
                  "static-even needs 3 GPUs (does not keep s.floor), the fewest without hindsight: 25% less cost than "
                  "shared (4 GPUs)"));
  EXPECT_TRUE(has(page, R"(<b>$4.0000</b>)"));
  EXPECT_TRUE(has(page, "-25 %"));
  EXPECT_TRUE(has(page, "100 › 50 › 25 %"));
  EXPECT_TRUE(has(page, "<b>0.7500</b>"));
  EXPECT_TRUE(has(page, "not stable"));
  EXPECT_TRUE(has(page, "<title>2 GPUs: 90.00%</title>"));
  EXPECT_TRUE(has(page, R"(<td data-label="Worst share">99.50%</td>)"));
}

TEST(SizeReport, SaysWhatMustBeKnownBesideTheFigures) {
  const std::string page = render_size_report(sizes());
  EXPECT_TRUE(has(page,
                  "<p><b>static-even</b> not stable: with each of the seeds 1, 2, 3 alone, 3, 2, ? GPUs would suffice; "
                  "how &lt;it&gt; "
                  "went; does not obey s.floor; SM counts are estimated</p>"));
  EXPECT_FALSE(has(page, "breaks the isolation"));
  study::SizeResult result = sizes();
  result.policies[1].at_answer->ignores = {{"s", ConstraintKind::kIsolation}};
  result.policies[1].gpus = 5;
  result.policies[1].tried = {trial(5, 991, true), trial(6, 900, false)};
  result.policies[1].is_smallest_proven = false;
  const std::string other = render_size_report(result);
  EXPECT_TRUE(has(other, "breaks the isolation"));
  EXPECT_TRUE(has(other, "≤ 5"));
  EXPECT_TRUE(has(other, "more GPUs are not always better: 6 GPUs do not reach the target"));
}

TEST(SizeReport, WhatCannotRunIsNotZeroPercent) {
  study::SizeResult result = sizes();
  EXPECT_FALSE(has(render_size_report(result), "cannot run</title>"));
  result.policies[0].tried[0].seeds = {{.holds = false, .infeasible = "needs 3", .worst = std::nullopt}};
  result.policies[2].tried = {trial(1, 0, false)};
  const std::string page = render_size_report(result);
  EXPECT_TRUE(has(page, "<title>2 GPUs: cannot run</title>"));
  EXPECT_TRUE(has(page, ">no run</text>"));
  EXPECT_TRUE(has(page, R"(cy="112.0" r="4"><title>1 GPU: 0.00%</title>)"));
}

TEST(SizeReport, TheScaleReachesBeyondTheTarget) {
  study::SizeResult result = sizes();
  EXPECT_TRUE(has(render_size_report(result), ">99.9 %</text>"));
  EXPECT_FALSE(has(render_size_report(result), ">99.99 %</text>"));
  result.options.attainment = Decimal(999, 1000);
  EXPECT_TRUE(has(render_size_report(result), ">99.99 %</text>"));
  result.options.attainment = Decimal(1);
  EXPECT_TRUE(has(render_size_report(result), ">99.999 %</text>"));
}

TEST(SizeReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const std::string page = render_size_report(sizes());
  EXPECT_TRUE(has(page, "a&lt;b&gt;&amp;&quot;.yaml"));
  EXPECT_TRUE(has(page, "no count &lt;up&gt; to 4"));
  EXPECT_FALSE(has(page, "a<b>"));
  EXPECT_FALSE(has(page, "{{"));
  EXPECT_FALSE(has(page, "<script"));
}

TEST(SizeReport, AbsentFiguresAreADash) {
  const std::string page = render_size_report(sizes());
  EXPECT_TRUE(has(page, R"(<td data-label="Goodput"><span class="absent">–</span></td>)"));
  EXPECT_TRUE(has(page, R"(<td data-label="Against shared"><span class="absent">–</span></td>)"));
}

TEST(SizeReport, TheSameResultGivesTheSameBytes) {
  EXPECT_EQ(render_size_report(sizes()), render_size_report(sizes()));
}

}  // namespace
}  // namespace berth::report
