#include "surface/pages/case_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/study/case_words.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using study::CaseResult;
using study::CaseStep;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kHourUs = 3'600'000'000;
constexpr std::size_t kBins = 600;

Scenario services_named(const std::vector<std::string>& names) {
  Scenario scenario;
  scenario.name = "s<c>.yaml";
  for (const std::string& name : names) {
    ServiceSpec service;
    service.name = name;
    scenario.services.push_back(service);
  }
  return scenario;
}

struct StepFigures {
  std::string name;
  bool is_hindsight = true;
  std::vector<std::int64_t> gpus;  ///< by quarter of an hour
};

CaseStep step_of(const StepFigures& figures, std::size_t services) {
  CaseStep step{.name = figures.name, .is_hindsight = figures.is_hindsight};
  step.holds = true;
  step.how = "found <by> trial";
  for (std::size_t quarter = 0; quarter < figures.gpus.size(); ++quarter) {
    const auto at = static_cast<std::int64_t>(quarter) * kHourUs / 4;
    step.counts.push_back({.from = Instant(at), .gpus = figures.gpus[quarter]});
    step.gpus_max = std::max(step.gpus_max, figures.gpus[quarter]);
    step.gpu_us += figures.gpus[quarter] * kHourUs / 4;
  }
  step.gpus_mean = static_cast<double>(step.gpu_us) / kHourUs;
  step.cost_micro_usd = step.gpu_us / 900;  // 4 dollars per hour
  step.cost_micro_usd_per_million_in_time = 2'000'000;
  step.slo_attainment_worst_service = 0.9951;
  step.utilisation = {.allocated = 0.9, .busy = 0.6, .effective = 0.3};
  step.timeline.bin = Micros::seconds(6);
  for (std::size_t service = 0; service < services; ++service) {
    step.timeline.services.push_back({.arrivals_per_second = std::vector<double>(kBins, 80),
                                      .capacity_per_second = std::vector<double>(kBins, 120),
                                      .goodput = {}});
    step.timeline.services.back().arrivals_per_second[300] = 150;
  }
  return step;
}

void set_savings(CaseResult& result) {
  const auto saved = [](const CaseStep& step, const CaseStep& base) {
    return 1 - static_cast<double>(step.cost_micro_usd) / static_cast<double>(base.cost_micro_usd);
  };
  for (CaseStep& step : result.steps) {
    step.saves_of_first = saved(step, result.steps[0]);
    step.saves_of_second = saved(step, result.steps[1]);
  }
}

CaseResult hour_of_steps(std::size_t services = 1) {
  CaseResult result{.scenario = "s<c>.yaml",
                    .gpu_model = "A100-80GB",
                    .simulated_seconds = 3600,
                    .provision_seconds = 60,
                    .usd_per_gpu_hour = Decimal(4),
                    .options = {.committed_micro_usd_per_gpu_hour = 2'500'000},
                    .steps = {}};
  const std::vector<StepFigures> all = {{.name = "whole-peak", .gpus = {8}},
                                        {.name = "whole-tracking", .gpus = {4, 8, 6, 4}},
                                        {.name = "slices", .gpus = {6}},
                                        {.name = "reconfiguration", .gpus = {4}},
                                        {.name = "scaling", .is_hindsight = false, .gpus = {2, 5, 3, 2}},
                                        {.name = "commitments", .gpus = {3, 5, 3, 3}}};
  result.steps.reserve(all.size());
  for (const StepFigures& figures : all) result.steps.push_back(step_of(figures, services));
  for (CaseStep& step : result.steps) {
    // A constant number lasts for the whole hour.
    if (step.counts.size() > 1) continue;
    step.gpu_us *= 4;
    step.gpus_mean *= 4;
    step.cost_micro_usd *= 4;
  }
  result.steps.back().timeline = {};
  set_savings(result);
  return result;
}

TEST(CaseReport, BeginsWithTheAnswerAndItsAssumption) {
  const CaseResult result = hour_of_steps();
  const std::string page = render_case_report(services_named({"a"}), result);
  EXPECT_THAT(page, HasSubstr("<h1 id=\"headline\">" + html_escaped(study::case_verdict(result)) + "</h1>"));
  EXPECT_THAT(page, HasSubstr("<p class=\"assumed\">" + html_escaped(study::case_assumption(result)) + "</p>"));
  EXPECT_THAT(page, HasSubstr("<dd>$2.5000 an hour</dd>"));
  EXPECT_THAT(page, HasSubstr("not known: as given"));
  EXPECT_THAT(page, Not(HasSubstr("Small:")));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CaseReport, EachStepHasItsFiguresAndHindsightIsMarked) {
  const std::string page = render_case_report(services_named({"a"}), hour_of_steps());
  for (const std::string name :
       {"whole-peak *", "whole-tracking *", "slices *", "reconfiguration *", "scaling", "commitments *"}) {
    EXPECT_THAT(page, HasSubstr("<th scope=\"row\">" + name + "</th>"));
    // The waterfall, the funnel and the GPUs over time.
    EXPECT_GE(testing::count_of(page, ">" + name + "</text>"), 3U) << name;
  }
  EXPECT_THAT(page, HasSubstr(R"(<tr class="ours"><th scope="row">scaling</th>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Saves of whole-peak">62.5 %</td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Saves of whole-tracking">45.5 %</td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Saves of whole-tracking">−45.5 %</td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Worst service">99.51%</td>)"));
  EXPECT_THAT(page, HasSubstr("90 › 60 › 30 %"));
  EXPECT_THAT(page, HasSubstr("<p><b>slices</b> found &lt;by&gt; trial</p>"));
}

TEST(CaseReport, TheWaterfallStatesWhatIsSavedAndWhatIsNot) {
  const std::string page = render_case_report(services_named({"a"}), hour_of_steps());
  EXPECT_THAT(page,
              HasSubstr("whole-tracking: $22.0000, 5.50 GPUs on average, at most 8; $10.0000 less than whole-peak"));
  EXPECT_THAT(page, HasSubstr("slices: $24.0000, 6.00 GPUs on average, at most 6; $2.0000 more than whole-tracking"));
  EXPECT_THAT(page, HasSubstr(">−$10.0000</text>"));
  EXPECT_THAT(page, HasSubstr(">+$2.0000</text>"));
  EXPECT_EQ(testing::count_of(page, R"(<rect class="more" x=)"), 2U) << "slices, and commitments with k too large";
  EXPECT_THAT(page, HasSubstr("scaling: 3.00 GPU-hours paid for, 2.70 allocated, 1.80 busy, 0.900 effective"));
}

TEST(CaseReport, AStepThatDoesNotHoldOrIsNotPossibleStays) {
  CaseResult result = hour_of_steps();
  result.steps[1].holds = false;
  result.steps[1].slo_attainment_worst_service = 0.97;
  result.steps[2] = {.name = "slices", .is_hindsight = true, .infeasible = "no count up to 8 GPUs keeps <it>"};
  result.is_small = true;
  const std::string page = render_case_report(services_named({"a"}), result);
  EXPECT_THAT(page, HasSubstr("5.50 GPUs · worst only 97.00%"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Holds"><b class="not">no</b></td>)"));
  EXPECT_THAT(page, HasSubstr("a service does not keep its share in time</title>"));
  EXPECT_THAT(
      page,
      HasSubstr(R"(<td class="infeasible" colspan="9">no such step: no count up to 8 GPUs keeps &lt;it&gt;</td>)"));
  EXPECT_EQ(testing::count_of(page, R"(class="below">no such step: no count up to 8 GPUs keeps &lt;it&gt;</text>)"),
            2U);
  EXPECT_THAT(page, HasSubstr("less than whole-tracking</title>")) << "the next one is compared with the one before";
  EXPECT_THAT(page, HasSubstr(R"(<p class="remark">Small: some service)"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CaseReport, NothingButImpossibleStepsIsAPageToo) {
  CaseResult result = hour_of_steps();
  for (CaseStep& step : result.steps) step = {.name = step.name, .infeasible = std::string(400, 'x')};
  const std::string page = render_case_report(services_named({"a"}), result);
  EXPECT_THAT(page, HasSubstr("No verdict: "));
  EXPECT_THAT(page, HasSubstr("No step ran."));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CaseReport, EachServiceHasALaneForEachStepThatRuns) {
  std::vector<std::string> names;
  names.reserve(kCaseServicesMax + 1);
  for (std::size_t i = 0; i < kCaseServicesMax; ++i) names.push_back("s" + std::to_string(i));
  const std::string page = render_case_report(services_named(names), hour_of_steps(names.size()));
  for (const std::string& name : names) {
    EXPECT_THAT(page, HasSubstr("Arrivals and capacity of " + name + " over time under each step"));
  }
  EXPECT_EQ(testing::count_of(page, "mean capacity 120/s, 1.50 × the arrivals"), 5 * names.size());
  EXPECT_THAT(page, HasSubstr("scaling: arrivals 80.1/s on average, at most 150/s; capacity 120/s, at least 120/s"));
  EXPECT_THAT(page, Not(HasSubstr("The first 8 of")));
  names.emplace_back("s8");
  const std::string more = render_case_report(services_named(names), hour_of_steps(names.size()));
  EXPECT_THAT(more, HasSubstr("The first 8 of 9 services."));
  EXPECT_THAT(more, Not(HasSubstr("capacity of s8")));
}

TEST(CaseReport, GpusAreMeansOfEqualColumns) {
  CaseResult result = hour_of_steps();
  // A change within a column of 4 s: 2 GPUs for 1 s, then 6 for 3.
  result.steps[4].counts = {{.from = Instant(), .gpus = 2}, {.from = Instant(1'000'000), .gpus = 6}};
  const std::string page = render_case_report(services_named({"a"}), result);
  EXPECT_THAT(page, HasSubstr("a column is the mean of 4 s"));
  // The scale ends at 8: 5 GPUs are at 12 + (226 - 12) * 3 / 8, 6 at a quarter.
  EXPECT_THAT(page, HasSubstr(R"(<path class="count c4 ours" d="M34 92.2H34.8V65.5H760"/>)"));
}

TEST(CaseReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const std::string page = render_case_report(services_named({"<b>"}), hour_of_steps());
  EXPECT_THAT(page, HasSubstr("s&lt;c&gt;.yaml"));
  EXPECT_THAT(page, Not(HasSubstr("s<c>")));
  EXPECT_THAT(page, HasSubstr("<b>&lt;b&gt;</b>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(CaseReport, TheSameCaseGivesTheSameBytes) {
  const Scenario scenario = services_named({"a", "b"});
  EXPECT_EQ(render_case_report(scenario, hour_of_steps(2)), render_case_report(scenario, hour_of_steps(2)));
}

}  // namespace
}  // namespace berth::report
