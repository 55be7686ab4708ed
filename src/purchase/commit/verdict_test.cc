/// The words for a comparison.
#include "purchase/commit/verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::purchase {
namespace {

class CommitVerdict : public ::testing::Test {
 protected:
  CommitScore score(CommitPolicy policy, std::int64_t usd, const std::vector<Purchase>& purchases = {}) const {
    CommitScore made{.policy = policy, .coverage = Coverage(plans_, 2), .cost = {.micro_usd = usd * 1'000'000}};
    for (const Purchase& each : purchases) made.coverage.buy(each);
    return made;
  }
  std::string verdict(const std::vector<CommitScore>& scores) const { return commit_verdict(comparison(scores)); }
  [[nodiscard]] CommitComparison comparison(const std::vector<CommitScore>& scores) const {
    return {.demand_name = "d.csv",
            .is_reversed = false,
            .demand = demand_,
            .plans = plans_,
            .scores = scores,
            .optimal = scores.front()};
  }

  PlanList plans_{.on_demand_name = "hourly",
                  .on_demand_micro_usd_per_hour = 3'000'000,
                  .committed = {{.name = "day", .term_hours = 24, .micro_usd_per_hour = 1'000'000}}};
  HourlyDemand demand_ = {1, 2};
};

TEST_F(CommitVerdict, SaysWhatIsSavedAndWhatIsAtStake) {
  const auto ours =
      score(CommitPolicy::kBerth, 60, {{.hour = 0, .plan = 0, .units = 1}, {.hour = 1, .plan = 0, .units = 1}});
  EXPECT_EQ(
      verdict({score(CommitPolicy::kOnDemand, 80), ours}),
      "Commit as berth does: 2 purchases, $60.0000 in all, 25.0% less than hourly. Behind the last one, at hour 1, "
      "$45.0000 were still to be paid if demand had stopped then.");
  EXPECT_EQ(
      verdict({score(CommitPolicy::kBerth, 60, {{.hour = 1, .plan = 0, .units = 1}})}),
      "Commit as berth does: 1 purchase, $60.0000 in all. Behind the last one, at hour 1, $23.0000 were still to be "
      "paid if demand had stopped then.");
  EXPECT_EQ(units_bought(ours), 2);
  EXPECT_EQ(regret_max_micro_usd(ours), 45'000'000);
}

TEST_F(CommitVerdict, KnowsWhenNothingIsBoughtOrAsked) {
  EXPECT_EQ(verdict({score(CommitPolicy::kBerth, 60)}),
            "Commit to nothing: by the demand seen so far no term would pay.");
  EXPECT_EQ(verdict({score(CommitPolicy::kOnDemand, 60)}), "");
}

TEST_F(CommitVerdict, NamesPricesAndRatios) {
  EXPECT_EQ(prices_text(plans_), "$3.0000 an hour hourly, $1.0000 day for 24 h");
  const std::vector<CommitScore> scores = {score(CommitPolicy::kOptimal, 40), score(CommitPolicy::kOnDemand, 50)};
  EXPECT_EQ(ratio_text(scores[1], comparison(scores)), "1.250");
  const std::vector<CommitScore> free = {score(CommitPolicy::kOptimal, 0)};
  EXPECT_EQ(ratio_text(free[0], comparison(free)), std::nullopt);
}

}  // namespace
}  // namespace berth::purchase
