#include "surface/pages/headline.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth::report {
namespace {

measure::PolicyResult policy(std::string name, double goodput, std::int64_t cost, std::int64_t cost_per_million) {
  measure::PolicyResult result;
  result.name = std::move(name);
  result.figures.goodput = goodput / 2;
  result.figures.goodput_mean_of_services = goodput;
  result.figures.cost_micro_usd = cost;
  result.figures.cost_micro_usd_per_million_in_time = cost_per_million;
  return result;
}

std::string headline_of(std::vector<measure::PolicyResult> policies) {
  study::ReplayResult result;
  result.policies = std::move(policies);
  return headline(Scenario{}, result);
}

TEST(Headline, ComparesTheBestWithShared) {
  EXPECT_EQ(headline_of({policy("shared", 0.5, 4'000'000, 8'000'000), policy("whole", 0.6, 4'000'000, 7'000'000),
                         policy("paris", 0.75, 2'000'000, 2'500'000)}),
            "paris has the highest goodput: 0.750 (mean of services), 50 % more than shared (0.500). It costs $2.00 "
            "instead of $4.00; a million answers in time cost $2.50 instead of $8.00.");
}

TEST(Headline, ComparesWithTheEvenLayoutWhereSharedIsHighestOrMissing) {
  EXPECT_EQ(headline_of({policy("shared", 0.8, 900'000, 8'000'000), policy("static-even", 0.4, 900'000, 16'000'000)}),
            "shared has the highest goodput: 0.800 (mean of services), 100 % more than static-even (0.400). Both cost "
            "$0.9000; a million answers in time cost $8.00 instead of $16.00.");
}

TEST(Headline, NamesNoPolicyWithHindsightAsTheHighest) {
  measure::PolicyResult known = policy("static-best", 0.9, 1, 1);
  known.is_hindsight = true;
  EXPECT_EQ(headline_of({known, policy("paris", 0.8, 1, 1)}),
            "paris has the highest goodput: 0.800 (mean of services).");
  EXPECT_EQ(headline_of({known}), "None of the policies that could run live gives a figure for this scenario.");
}

TEST(Headline, LeavesOutWhatIsNotKnown) {
  measure::PolicyResult priceless = policy("paris", 0.75, 0, 0);
  priceless.figures.cost_micro_usd.reset();
  measure::PolicyResult infeasible = policy("static-even", 1, 1, 1);
  infeasible.infeasible = "no room";
  EXPECT_EQ(headline_of({policy("shared", 0, 1, 1), priceless, infeasible}),
            "paris has the highest goodput: 0.750 (mean of services); that of shared is 0.");
  EXPECT_EQ(headline_of({infeasible}), "None of the policies that could run live gives a figure for this scenario.");
}

TEST(Headline, FollowsTheObjective) {
  Scenario scenario;
  scenario.objective = Objective::kRequests;
  study::ReplayResult result;
  result.policies = {policy("paris", 0.75, 1, 1)};
  EXPECT_EQ(headline(scenario, result), "paris has the highest goodput: 0.375 (over all requests).");
}

}  // namespace
}  // namespace berth::report
