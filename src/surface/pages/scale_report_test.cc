#include "surface/pages/scale_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using scale::Comparison;
using ::testing::HasSubstr;
using ::testing::Not;

using Counts = std::vector<std::uint32_t>;

Counts waves(std::uint32_t seconds) {
  Counts counts;
  for (std::uint32_t second = 0; second < seconds; ++second) counts.push_back(second % 900 < 60 ? 60 : 20 + second % 7);
  return counts;
}

Comparison comparison_of(const Counts& counts, const std::vector<scale::Policy>& policies,
                         std::optional<std::int64_t> price = 806'000) {
  Comparison made{.trace_name = "t<r>.txt",
                  .problem = {.load = {.counts = counts, .from_second = 600},
                              .rate = *scale::ReplicaRate::of(Decimal(8)),
                              .wait_seconds = 2,
                              .start_seconds = 60,
                              .attainment = Decimal(99, 100)},
                  .micro_usd_per_replica_hour = price,
                  .results = {}};
  for (const scale::Policy policy : policies) made.results.push_back(scale::run_policy(made.problem, policy));
  return made;
}

const std::vector<scale::Policy> all_policies(scale::kPolicies.begin(), scale::kPolicies.end());

TEST(ScaleReport, BeginsWithTheAnswerAndItsAssumption) {
  const Counts counts = waves(2'000);
  const std::string page = render_scale_report(comparison_of(counts, all_policies));
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">Scale by )"));
  EXPECT_THAT(page, HasSubstr("Assumed: the recorded arrivals; each replica serves 8 requests a second"));
  EXPECT_THAT(page, HasSubstr("<dd>600 to 1999</dd>"));
  EXPECT_THAT(page, HasSubstr("$0.806000 a replica-hour, as given"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">tuned *</th>)"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">bound</th>)"));
}

TEST(ScaleReport, DrawsOursAndTheTunedRival) {
  const Counts counts = waves(2'000);
  const std::string page = render_scale_report(comparison_of(counts, all_policies));
  EXPECT_THAT(page, HasSubstr(R"(aria-label="Arrivals, capacity and misses over time under berth")"));
  EXPECT_THAT(page, HasSubstr(R"(aria-label="Arrivals, capacity and misses over time under tuned")"));
  EXPECT_THAT(page, Not(HasSubstr("over time under fixed")));
  for (const std::string_view part : {"ready", "starting", "arriving", "highest", "missed"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format(R"(<path class="{}" d="M)", part)));
  }
  EXPECT_THAT(page, HasSubstr("Why berth scaled"));
  EXPECT_THAT(page, Not(HasSubstr("The busiest hour")));  // the run is short enough
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(ScaleReport, OthersStandInForPoliciesThatWereNotRun) {
  const Counts counts = waves(1'000);
  const std::string page = render_scale_report(
      comparison_of(counts, {scale::Policy::kBands, scale::Policy::kFixed, scale::Policy::kTargetTracking}));
  EXPECT_THAT(page, HasSubstr("over time under bands"));
  EXPECT_THAT(page, HasSubstr("over time under fixed"));
  EXPECT_THAT(page, Not(HasSubstr("over time under target-tracking")));
  EXPECT_THAT(page, Not(HasSubstr("Why berth scaled")));
}

TEST(ScaleReport, AbsentFiguresAreADash) {
  const Counts counts(1'000, 0);
  const std::string page = render_scale_report(comparison_of(counts, {scale::Policy::kFixed}, std::nullopt));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="In time"><span class="absent">–</span></td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Of the bound"><span class="absent">–</span></td>)"));
  EXPECT_THAT(page, Not(HasSubstr(R"(data-label="Cost")")));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(ScaleReport, ALongRunIsBinnedWithItsBusiestHourBeside) {
  Counts counts = waves(90'000);
  counts[50'600] = 500;
  const std::string page =
      render_scale_report(comparison_of(counts, {scale::Policy::kTargetTracking, scale::Policy::kFixed}));
  EXPECT_THAT(page, HasSubstr("a column is 90 s"));
  EXPECT_THAT(page, HasSubstr("a column is 4 s"));
  EXPECT_THAT(page, HasSubstr("The busiest hour"));
  EXPECT_THAT(page, HasSubstr(">13:50 h<"));  // second 50,000 of the run, half an hour around it
  EXPECT_LT(page.size(), 400'000U);
}

TEST(ScaleReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const Counts counts = waves(700);
  const std::string page = render_scale_report(comparison_of(counts, {scale::Policy::kFixed}));
  EXPECT_THAT(page, HasSubstr("t&lt;r&gt;.txt"));
  EXPECT_THAT(page, Not(HasSubstr("t<r>")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(ScaleReport, TheSameComparisonGivesTheSameBytes) {
  const Counts counts = waves(1'000);
  EXPECT_EQ(render_scale_report(comparison_of(counts, all_policies)),
            render_scale_report(comparison_of(counts, all_policies)));
}

}  // namespace
}  // namespace berth::report
