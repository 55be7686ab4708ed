/// Commitments in cases small enough to count by hand, and the figures of the public demand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "purchase/commit/commit_rules.h"
#include "purchase/commit/coverage.h"
#include "purchase/commit/demand.h"
#include "purchase/commit/forward_buyer.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PlanList plans_of(std::int64_t term, std::int64_t committed, std::int64_t on_demand = 100) {
  return {.on_demand_name = "od",
          .on_demand_micro_usd_per_hour = on_demand,
          .committed = {{.name = "c", .term_hours = term, .micro_usd_per_hour = committed}}};
}

TEST(Coverage, PaysUsedOrNotInsideTheHorizon) {
  const PlanList plans = plans_of(4, 60);
  const HourlyDemand demand = {2, 0, 1};
  Coverage coverage(plans, 3);
  coverage.buy({.hour = 0, .plan = 0, .units = 1});
  const CommitCost cost = cost_of(demand, plans, coverage);
  EXPECT_EQ(cost.micro_usd, 3 * 60 + 100);  // the fourth hour is after the horizon
  EXPECT_EQ(cost.unused_unit_hours, 1);
  EXPECT_EQ(coverage.active(3), 1);
  EXPECT_EQ(coverage.active(4), 0);
}

TEST(Coverage, RegretIsWhatIsStillToBePaid) {
  const PlanList plans = plans_of(10, 60);
  Coverage coverage(plans, 100);
  coverage.buy({.hour = 0, .plan = 0, .units = 1});
  coverage.buy({.hour = 4, .plan = 0, .units = 2});
  EXPECT_EQ(coverage.regret_micro_usd(4), (5 + 2 * 9) * 60);
  EXPECT_EQ(coverage.regret_micro_usd(3), 6 * 60);  // the second one was not bought yet
}

TEST(Coverage, CostsAndUnitsByTheHour) {
  PlanList plans = plans_of(2, 60);
  plans.committed.push_back({.name = "long", .term_hours = 9, .micro_usd_per_hour = 10});
  Coverage coverage(plans, 4);
  coverage.buy({.hour = 0, .plan = 1, .units = 1});
  coverage.buy({.hour = 1, .plan = 0, .units = 2});
  EXPECT_THAT(active_by_plan(plans, coverage, 4), ElementsAre(ElementsAre(0, 2, 2, 0), ElementsAre(1, 1, 1, 1)));
  EXPECT_THAT(hourly_micro_usd({3, 0, 4, 1}, plans, coverage), ElementsAre(210, 130, 230, 10));
}

TEST(CommitRules, ConstantTakesTheBestNumberTheSmallestOfEquals) {
  EXPECT_THAT(buy_constant({3, 3, 1, 1}, plans_of(2, 50)).purchases(),
              ElementsAre(Purchase{0, 0, 1}, Purchase{2, 0, 1}));
  EXPECT_THAT(buy_constant({1, 0, 1, 0}, plans_of(4, 50)).purchases(), IsEmpty());  // half the time at half the price
}

TEST(CommitRules, TrailingLooksAtTheDemandOfBeforeOnceADay) {
  HourlyDemand demand(60, 4);
  demand[30] = 9;
  // rho 0.5: at least half of the last hours' demands are at most 4.
  EXPECT_THAT(buy_trailing(demand, plans_of(20, 50), 168).purchases(),
              ElementsAre(Purchase{24, 0, 4}, Purchase{48, 0, 4}));
}

TEST(CommitRules, BreakEvenBuysALevelWhenItsHoursOfUseReachRhoTimesTheTerm) {
  // rho T = 5 hours of use within the last 10.
  EXPECT_THAT(buy_at_break_even(HourlyDemand(12, 1), plans_of(10, 50)).purchases(), ElementsAre(Purchase{4, 0, 1}));
}

TEST(CommitOptimum, BuysWhatPays) {
  EXPECT_THAT(cheapest_purchases({0, 1, 1, 0}, plans_of(2, 60)).purchases(), ElementsAre(Purchase{1, 0, 1}));
  EXPECT_THAT(cheapest_purchases({0, 1, 0, 0}, plans_of(2, 60)).purchases(), IsEmpty());
}

TEST(CommitFiles, DemandHasNoGaps) {
  EXPECT_THAT(*read_demand_csv("hour,units\n0,3\n1,0\n", "d.csv"), ElementsAre(3, 0));
  const auto refusal = [](const char* text) { return read_demand_csv(text, "d.csv").error().message; };
  EXPECT_EQ(refusal("hour,units\n0,3\n2,0\n"),
            "d.csv:3:1: hour: wanted 1, as hours have no gaps and begin with 0, found \"2\"");
  EXPECT_THAT(refusal("hour,units\n0,3.5\n"), HasSubstr("d.csv:2:3: units: wanted a whole number"));
  EXPECT_THAT(refusal("hour,units\n"), HasSubstr("wanted demand in at least one hour"));
}

TEST(CommitFiles, PodsCountAtTheBeginningOfAnHourAndGpusAreRoundedUp) {
  const auto demand = read_demand_pods(
      "name,num_gpu,gpu_milli,creation_time,deletion_time\n"
      "a,1,500,0,3601\n"
      "b,1,600,3600,7200\n"
      "c,2,1000,3601,7200\n"
      "d,0,0,0,14401\n",
      "p.csv");
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  EXPECT_THAT(*demand, ElementsAre(1, 2, 0, 0, 0));  // at 3600 a and b exist: 1,100 thousandths
}

TEST(CommitFiles, ExactlyOnePlanIsOnDemand) {
  const std::string head = "name,term_hours,micro_usd_per_hour\n";
  const auto refusal = [&](const std::string& rows) { return read_plans(head + rows, "p.csv").error().message; };
  const auto plans = read_plans(head + "year,8760,40\nod,0,100\n", "p.csv");
  ASSERT_TRUE(plans.has_value());
  EXPECT_EQ(plans->on_demand_micro_usd_per_hour, 100);
  EXPECT_EQ(plans->committed.front().name, "year");
  EXPECT_THAT(refusal("a,0,1\nb,0,2\n"), HasSubstr("p.csv:3:3: term_hours: wanted a term above 0"));
  EXPECT_THAT(refusal("a,1,1\n"), HasSubstr("wanted a plan with term_hours 0"));
  EXPECT_THAT(refusal("a,0,1\na,1,2\n"), HasSubstr("p.csv:3:1: name: wanted a name that no other plan has"));
  EXPECT_THAT(refusal("a,0,0.5\n"), HasSubstr("p.csv:2:5: micro_usd_per_hour: wanted a whole number"));
}

class PublicDemand : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("BERTH_DATA");
    if (folder == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
    const std::string path = std::string(folder) + "/openb/openb_pod_list_default.csv";
    std::ifstream file(path);
    if (!file) GTEST_SKIP() << path << " is missing";
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto demand = read_demand_pods(text, path);
    ASSERT_TRUE(demand.has_value()) << demand.error().message;
    demand_ = *demand;
  }
  /// To the optimum, in thousandths.
  std::int64_t ratio(const Coverage& coverage) const {
    const std::int64_t best = cost_of(demand_, plans_, cheapest_purchases(demand_, plans_)).micro_usd;
    return (cost_of(demand_, plans_, coverage).micro_usd * 1000 + best / 2) / best;
  }

  HourlyDemand demand_;
  PlanList plans_ = plans_of(720, 630'000, 1'000'000);
};

TEST_F(PublicDemand, GivesThePublishedRatios) {
  EXPECT_EQ(ratio(Coverage(plans_, static_cast<std::int64_t>(demand_.size()))), 1538);
  EXPECT_EQ(ratio(buy_constant(demand_, plans_)), 1389);
  EXPECT_EQ(ratio(buy_at_break_even(demand_, plans_)), 1263);
  EXPECT_EQ(ratio(buy_trailing(demand_, plans_, 720)), 1170);
  EXPECT_EQ(ratio(buy_trailing(demand_, plans_, 168)), 1058);
  EXPECT_LT(ratio(buy_forward(demand_, plans_)), 1058);
}

TEST_F(PublicDemand, GivesThePublishedRatiosInReverse) {
  std::ranges::reverse(demand_);
  EXPECT_EQ(ratio(buy_constant(demand_, plans_)), 1284);
  EXPECT_EQ(ratio(buy_at_break_even(demand_, plans_)), 1316);
  EXPECT_EQ(ratio(buy_trailing(demand_, plans_, 720)), 1298);
  EXPECT_EQ(ratio(buy_trailing(demand_, plans_, 168)), 1225);
  EXPECT_LT(ratio(buy_forward(demand_, plans_)), 1225);
}

}  // namespace
}  // namespace berth::purchase
