#include "surface/pages/commit_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using purchase::CommitPolicy;
using purchase::CommitScore;
using ::testing::HasSubstr;
using ::testing::Not;

/// A comparison with the values that it borrows.
struct Commitments {
  purchase::HourlyDemand demand;
  purchase::PlanList plans;
  std::vector<CommitScore> scores = {};
  std::vector<CommitScore> optimal = {};

  void run(const std::vector<CommitPolicy>& policies) {
    scores = purchase::run_commit_study(demand, plans, policies);
    optimal = purchase::run_commit_study(demand, plans, std::vector{CommitPolicy::kOptimal});
  }
  [[nodiscard]] std::string page(const std::string& name = "demand.csv", bool is_reversed = false) const {
    return render_commit_report({.demand_name = name,
                                 .is_reversed = is_reversed,
                                 .demand = demand,
                                 .plans = plans,
                                 .scores = scores,
                                 .optimal = optimal.front()});
  }
};

/// Demand that steps from 4 units to 8, with two plans.
Commitments steps(std::size_t hours = 400) {
  Commitments made{.demand = purchase::HourlyDemand(hours, 4),
                   .plans = {.on_demand_name = "by<hour>",
                             .on_demand_micro_usd_per_hour = 1'000'000,
                             .committed = {{.name = "week", .term_hours = 168, .micro_usd_per_hour = 600'000},
                                           {.name = "d&y", .term_hours = 24, .micro_usd_per_hour = 800'000}}}};
  for (std::size_t hour = hours / 2; hour < hours; ++hour) made.demand[hour] = 8;
  made.run({CommitPolicy::kOnDemand, CommitPolicy::kOptimal, CommitPolicy::kBerth});
  return made;
}

TEST(CommitReport, BeginsWithTheAnswerAndItsAssumption) {
  const std::string page = steps().page();
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">Commit as berth does: )"));
  EXPECT_THAT(page, HasSubstr("Assumed: the demand of the file; a purchase is paid for in each hour of its term"));
  EXPECT_THAT(page, HasSubstr("not known: as in the file of plans"));
  EXPECT_THAT(page, HasSubstr("<dd>6.0 on average, at most 8</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>demand.csv</dd>"));
  EXPECT_THAT(steps().page("d", true), HasSubstr("<dd>d, in reverse order</dd>"));
}

TEST(CommitReport, ShowsWhatCoversTheDemandLongerTermsFirst) {
  const std::string page = steps().page();
  EXPECT_THAT(page, HasSubstr(R"(aria-label="Demand over time and what covers it under berth")"));
  EXPECT_THAT(page, HasSubstr(R"(aria-label="Demand over time and what covers it under optimal")"));
  EXPECT_LT(page.find("week, 168 h"), page.find("d&amp;y, 24 h"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="area plan0" d="M)"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="bought plan)"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">optimal *</th>)"));
  EXPECT_THAT(page, HasSubstr("+$"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CommitReport, ARivalThatBuysIsShownToo) {
  Commitments one = steps();
  one.plans.committed.resize(1);
  one.run({purchase::kCommitPolicies.begin(), purchase::kCommitPolicies.end()});
  const std::string page = one.page();
  EXPECT_THAT(page, HasSubstr("what covers it under trailing-168"));
  EXPECT_THAT(page, Not(HasSubstr("what covers it under constant")));  // a policy with hindsight is not a rival
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">wang</th>)"));
}

TEST(CommitReport, NeedsNeitherBerthNorPurchases) {
  Commitments without = steps();
  without.plans.committed.clear();
  without.run({CommitPolicy::kOnDemand});
  const std::string page = without.page();
  EXPECT_THAT(page, HasSubstr("400 hours of demand: on-demand costs least, $2,400.00."));
  EXPECT_THAT(page, Not(HasSubstr("What berth bought")));
  EXPECT_THAT(page, Not(HasSubstr("class=\"area plan")));
  without.run({CommitPolicy::kBerth});
  EXPECT_THAT(without.page(), HasSubstr("Commit to nothing"));
  EXPECT_THAT(without.page(), HasSubstr(R"(<td data-label="Against on demand"><span class="absent">–</span></td>)"));
}

TEST(CommitReport, ADemandThatCostsNothingHasNoRatio) {
  Commitments idle = steps();
  idle.demand.assign(10, 0);
  idle.run({CommitPolicy::kOnDemand});
  const std::string page = idle.page();
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Of the optimum"><span class="absent">–</span></td>)"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CommitReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const std::string page = steps().page("<script>.csv");
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;.csv"));
  EXPECT_THAT(page, HasSubstr("by&lt;hour&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("by<hour>")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(CommitReport, ALongHorizonStaysSmall) {
  const Commitments year = steps(20'000);
  const std::string page = year.page();
  EXPECT_THAT(page, HasSubstr("a column is the mean of 20 hours"));
  EXPECT_THAT(page, HasSubstr(fmt::format("The first {} of ", kPurchaseRowsMax)));
  EXPECT_LT(page.size(), 400'000U);
}

TEST(CommitReport, TheSameComparisonGivesTheSameBytes) { EXPECT_EQ(steps().page(), steps().page()); }

}  // namespace
}  // namespace berth::report
