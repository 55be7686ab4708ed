#include "surface/pages/place_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduling/placement/testing/small_lists.h"
#include "surface/pages/place_map.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using placement::ArrivalOrder;
using placement::StudyOptions;
using placement::testing::NodeSketch;
using placement::testing::PodSketch;
using ::testing::HasSubstr;
using ::testing::Not;

std::string place_page_of(const placement::Problem& problem, const StudyOptions& options,
                          const std::vector<placement::Policy>& policies) {
  placement::StudyRecorder recorder(problem, options);
  const auto results = placement::run_study(
      problem, options, policies,
      [&](placement::Policy policy, std::optional<std::uint64_t>, const placement::Arrivals& arrivals) {
        placement::RunListener listener;
        recorder.listen(policy, arrivals, listener);
        return listener;
      });
  return render_place_report({.nodes_name = "n<o>des.csv",
                              .pods_name = "p<o>ds.csv",
                              .problem = problem,
                              .options = options,
                              .results = results->value(),
                              .record = recorder.record()});
}

const std::vector<placement::Policy> both = {placement::Policy::kFgd, placement::Policy::kBerth};

std::vector<PodSketch> mixed_pods(int count) {
  std::vector<PodSketch> pods;
  pods.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    pods.push_back({.gpus = i % 5 == 0 ? 2 : 1, .milli = i % 5 == 0 ? 1000 : 100 + 7 * (i % 100)});
  }
  return pods;
}

placement::Problem mixed_list(const std::string& model = "T4", int nodes = 20) {
  return placement::testing::problem_of(
      std::vector<NodeSketch>(static_cast<std::size_t>(nodes), {.model = model, .gpus = 4}), mixed_pods(120));
}

StudyOptions seeds(std::vector<std::uint64_t> numbers, ArrivalOrder order = ArrivalOrder::kSeeded) {
  return {.order = order, .seeds = std::move(numbers), .demand = Decimal(13, 10)};
}

TEST(PlaceReport, HasEverySection) {
  const std::string page = place_page_of(mixed_list(), seeds({1, 2, 3}), both);
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">)"));
  EXPECT_THAT(page, HasSubstr("<dd>80</dd>"));
  EXPECT_THAT(page, HasSubstr("seeds 1 to 3"));
  EXPECT_THAT(page, HasSubstr("Where the policies part"));
  EXPECT_THAT(page, HasSubstr("The whole run, from the empty cluster"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="seeds place-fgd" d="M)"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="course place-berth" d="M)"));
  EXPECT_THAT(page, HasSubstr("Idle at the end, by cause"));
  EXPECT_THAT(page, HasSubstr("<b>Before</b><span>the empty cluster</span>"));
  EXPECT_THAT(page, HasSubstr("<b>berth</b><span>at the end, seed 1: "));
  EXPECT_THAT(page, HasSubstr("<b>fgd</b><span>at the end, seed 1: "));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(PlaceReport, AGivenOrderIsOneRunWithoutABand) {
  const std::string page = place_page_of(mixed_list(), seeds({}, ArrivalOrder::kGiven), both);
  EXPECT_THAT(page, HasSubstr("as in the files, one run"));
  EXPECT_THAT(page, Not(HasSubstr(R"(<path class="seeds)")));
  EXPECT_THAT(page, HasSubstr("<b>berth</b><span>at the end: "));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(PlaceReport, WithDeparturesTimeIsInMeanStays) {
  const std::string page = place_page_of(mixed_list(), seeds({1}, ArrivalOrder::kChurn), both);
  EXPECT_THAT(page, HasSubstr("arrivals so far, in mean stays M"));
  EXPECT_THAT(page, HasSubstr("not in the mean"));
  EXPECT_THAT(page, HasSubstr(">4 M<"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(PlaceReport, SlicesAreDrawn) {
  std::vector<PodSketch> pods(30, {.milli = 0, .slices = {{1, "2g.20gb"}}});
  pods.insert(pods.end(), 5, {});
  const placement::Problem problem =
      placement::testing::problem_of(std::vector<NodeSketch>(4, {.model = "A100-80GB", .gpus = 4}), pods);
  const std::string page = place_page_of(problem, seeds({1}), {placement::Policy::kFirst, placement::Policy::kBerth});
  EXPECT_THAT(page, HasSubstr(R"(<path class="barslice" d="M)"));
  EXPECT_THAT(page, ::testing::ContainsRegex("Slices under berth: [0-9]+ × 2g.20gb"));
  EXPECT_THAT(page, HasSubstr("units at 130 %"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(PlaceReport, ManyGpusAreBarsByModel) {
  const placement::Problem problem =
      placement::testing::problem_of({{.gpus = 4}, {.model = "P100", .gpus = 2}}, mixed_pods(40), {.copies = 3'000});
  const std::string page = place_page_of(problem, seeds({}, ArrivalOrder::kGiven), both);
  EXPECT_THAT(page, HasSubstr("9,000 GPUs are too many to be drawn one by one"));
  EXPECT_THAT(page, HasSubstr("</tspan> · 6,000 GPUs"));
  EXPECT_THAT(page, Not(HasSubstr("cell5\" d=")));
  EXPECT_LT(page.size(), 80'000U);
}

TEST(PlaceReport, IsBoundedForTheLargestMap) {
  std::vector<NodeSketch> nodes;
  nodes.reserve(4'000);
  for (int i = 0; i < 4'000; ++i) nodes.push_back({.model = fmt::format("model-{}", i % 1'000), .gpus = 2});
  const placement::Problem problem = placement::testing::problem_of(nodes, mixed_pods(3'000));
  ASSERT_EQ(problem.gpu_count, placement::kEndGpusMax);
  const std::string page = place_page_of(problem, seeds({}, ArrivalOrder::kGiven),
                                         {placement::Policy::kDotProduct, placement::Policy::kBestFit});
  EXPECT_THAT(page, HasSubstr("other models"));
  EXPECT_LT(page.size(), kPlacePageBytesMax);
}

TEST(PlaceReport, ListsThatAskForNothingOrFillEverythingHaveAPage) {
  const placement::Problem cpu_only = placement::testing::problem_of({{.gpus = 1}}, {{.gpus = 0}});
  const placement::Problem small = placement::testing::problem_of({{.gpus = 8}}, {{.milli = 1}});
  const placement::Problem full = placement::testing::problem_of({{.gpus = 1}}, {{}, {}, {.gpus = 16}});
  for (const placement::Problem* problem : {&cpu_only, &small, &full}) {
    const std::string page = place_page_of(*problem, seeds({}, ArrivalOrder::kGiven), both);
    EXPECT_FALSE(testing::has_bad_number(page));
    const bool is_enlarged = page.find("; enlarged: the scale begins at") != std::string::npos;
    const bool has_idle = page.find("h-idle") != std::string::npos;
    EXPECT_EQ(has_idle, problem != &cpu_only);
    EXPECT_EQ(testing::count_of(page, "<svg viewBox=\"0 0 960"), 1U + (is_enlarged ? 1U : 0U) + (has_idle ? 1U : 0U));
  }
  EXPECT_FALSE(testing::has_bad_number(place_page_of(small, seeds({1, 2}, ArrivalOrder::kChurn), both)));
}

TEST(PlaceReport, WithoutPodsThatAskForGpusTheCoursesAreFlatAndNoCauseIsNamed) {
  const placement::Problem problem = placement::testing::problem_of({{.gpus = 1}}, {{.gpus = 0}, {.gpus = 0}});
  const std::string page = place_page_of(problem, seeds({}, ArrivalOrder::kGiven), both);
  EXPECT_THAT(page, HasSubstr("No pod of the list asks for a GPU: every policy leaves all GPUs idle."));
  EXPECT_THAT(page, Not(HasSubstr("What the idle GPUs are stuck in")));
  EXPECT_THAT(page, Not(HasSubstr(R"(class="asked")")));
  EXPECT_THAT(page, HasSubstr(R"(<path class="course place-fgd" d="M58 330H810"/>)"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="leader place-fgd" d="M810 330L)"));
}

TEST(PlaceReport, WhatIsAskedForStaysInsideTheChart) {
  StudyOptions options = seeds({1});
  options.demand = Decimal(50);  // columns so wide that the enlarged chart begins below its scale
  const std::string page =
      place_page_of(placement::testing::problem_of({{.gpus = 8}}, {{.milli = 300}, {.milli = 500}}), options, both);
  EXPECT_THAT(page, HasSubstr("; enlarged: the scale begins at"));
  EXPECT_THAT(page, ::testing::ContainsRegex(R"(<path class="asked" d="M[0-9.]+ 330L[0-9.]+ 12L810 12"/>)"));
}

TEST(PlaceReport, PoliciesThatDoNotPartHaveAPlainTitle) {
  const placement::Problem problem = placement::testing::problem_of({{.gpus = 8}}, {{.milli = 1000}});
  const std::string page = place_page_of(problem, seeds({1}), both);
  EXPECT_THAT(page, HasSubstr("The end of the run, enlarged"));
  EXPECT_THAT(page, Not(HasSubstr("Where the policies part")));
}

TEST(PlaceReport, OneOfAKindHasNoS) {
  const std::string page =
      place_page_of(placement::testing::problem_of({{.gpus = 1}}, {{}}), seeds({}, ArrivalOrder::kGiven), both);
  EXPECT_THAT(page, HasSubstr("</tspan> · 1 node, 1 GPU<"));
  EXPECT_THAT(page, HasSubstr("averaged over the one row that asks for GPUs"));
}

TEST(PlaceReport, AModelsNameDoesNotReorderItsHeading) {
  const std::string page = place_page_of(mixed_list("T4\u202Eab"), seeds({1}), both);
  EXPECT_THAT(page, HasSubstr("<tspan class=\"model\">\u2068T4\uFFFDab\u2069</tspan> · 20 nodes"));
  EXPECT_THAT(page, Not(HasSubstr("\u202E")));
}

TEST(PlaceReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const std::string page = place_page_of(mixed_list("<b>\"&é-a-long-name-of-a-model"), seeds({1}), both);
  EXPECT_THAT(page, HasSubstr("p&lt;o&gt;ds.csv"));
  EXPECT_THAT(page, HasSubstr("\u2068&lt;b&gt;&quot;&amp;é-a-long-\u2069…"));
  EXPECT_THAT(page, Not(HasSubstr("<o>")));
  EXPECT_THAT(page, Not(HasSubstr("<b>\"")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(PlaceReport, PoliciesAreMappedBestFirstWithBerth) {
  const std::string page = place_page_of(
      mixed_list(), seeds({1, 2}), {placement::Policy::kRandom, placement::Policy::kPacking, placement::Policy::kFgd});
  EXPECT_THAT(page, Not(HasSubstr("<b>random</b>")));  // the best two
  const std::string alone = place_page_of(mixed_list(), seeds({1}), {placement::Policy::kBerth});
  EXPECT_EQ(testing::count_of(alone, R"(<figure class="map)"), 2U);  // before, and after
}

TEST(PlaceReport, TheSameStudyGivesTheSameBytes) {
  EXPECT_EQ(place_page_of(mixed_list(), seeds({1, 2}), both), place_page_of(mixed_list(), seeds({1, 2}), both));
}

}  // namespace
}  // namespace berth::report
