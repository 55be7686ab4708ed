/// The words for a comparison, and the costs of single runs.
#include "purchase/spot/verdict.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "purchase/spot/testing/plain_run.h"

namespace berth::purchase {
namespace {

SpotScore score_with(SpotPolicy policy, std::int64_t usd, std::int64_t missed = 0) {
  return {.policy = policy,
          .totals = {.runs = 2, .missed = missed, .switches = 0, .micro_usd = Decimal(2 * usd * 1'000'000)},
          .groups = {}};
}

TEST(SpotVerdict, ComparesWithWhatWasRun) {
  const std::vector<SpotScore> all = {score_with(SpotPolicy::kOnDemand, 200),
                                      score_with(SpotPolicy::kUniformProgress, 80),
                                      score_with(SpotPolicy::kOptimal, 80), score_with(SpotPolicy::kBerth, 100, 1)};
  EXPECT_EQ(
      spot_verdict(all),
      "Run such jobs by berth: $100.00 a run, 50.0% less than on demand, 25.0% more than uniform-progress, 25.0% more "
      "than with hindsight (optimal); 1 of 2 deadlines missed.");
  EXPECT_EQ(spot_verdict({score_with(SpotPolicy::kBerth, 100)}),
            "Run such jobs by berth: $100.00 a run; 0 of 2 deadlines missed.");
  EXPECT_EQ(spot_verdict({score_with(SpotPolicy::kOnDemand, 200)}), "");
}

TEST(SpotVerdict, NamesPricesAndHours) {
  SpotStudy study;
  study.prices = {.on_demand_micro_usd = 3'060'000, .spot_micro_usd = 973'100};
  EXPECT_TRUE(spot_assumption(study).starts_with(
      "Assumed: the recorded windows, $3.0600 an hour on demand and $0.973100 on spot, a restart after each change."));
  EXPECT_EQ(hours_text(72), "0.02");
  EXPECT_EQ(hours_text(1), "1/3600");
}

TEST(SpotRuns, AreThoseOfMarketsThenDeadlinesThenRestarts) {
  const SpotStudy study{.markets = {testing::market_of({"000000000000"}), testing::market_of({"111111111111"})},
                        .task_seconds = 1'800,
                        .deadlines = {3'600, 7'200},
                        .restarts = {0, 60, 600},
                        .prices = {.on_demand_micro_usd = 6'000'000, .spot_micro_usd = 600'000}};
  std::vector<SpotRunKey> seen;
  const auto scores = run_spot_study(study, std::vector{SpotPolicy::kGreedy}, [&](const SpotRun& run) {
    seen.push_back({.market = run.market, .job = run.job});
    return true;
  });
  ASSERT_EQ(scores->front().runs.size(), 12U);
  Decimal sum;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const SpotRunKey key = run_key(study, i);
    EXPECT_EQ(key.market, seen[i].market);
    EXPECT_EQ(key.job, seen[i].job);
    sum += scores->front().runs[i].micro_usd;
  }
  EXPECT_EQ(sum, scores->front().totals.micro_usd);
  // Three ticks of spot at a tenth of a dollar; on demand where there is none, at a dollar.
  EXPECT_EQ(scores->front().runs[0].micro_usd, Decimal(300'000));
  EXPECT_EQ(scores->front().runs[6].micro_usd, Decimal(3'000'000));
}

}  // namespace
}  // namespace berth::purchase
