#include "scheduling/placement/verdict.h"

#include <gtest/gtest.h>

namespace berth::placement {
namespace {

PolicyResult failing(Policy policy, double mean, std::optional<double> sd = std::nullopt) {
  return {.policy = policy, .failed = Summary{.mean = mean, .sd = sd}};
}

PolicyResult allocating(Policy policy, double percent) {
  return {.policy = policy, .allocated_at_100 = Summary{.mean = percent}, .failed = Summary{}};
}

TEST(PlacementVerdict, FailedPodsThatTieAreNoVictory) {
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 1), failing(Policy::kFgd, 1), failing(Policy::kBerth, 1)}),
            "All policies tie: each fails to place 1 pod.");
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 1.5, 0.7), failing(Policy::kBerth, 1.5, 0.1)}),
            "All policies tie: each fails to place 1.5 pods on average.");
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 0), failing(Policy::kBerth, 0)}),
            "Every policy places every pod.");
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 4), failing(Policy::kFgd, 2), failing(Policy::kBerth, 2)}),
            "fgd fails to place the fewest: 2 pods; berth is as good.");
}

TEST(PlacementVerdict, OneRunHasNoAverage) {
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 1'234)}), "random fails to place 1,234 pods.");
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 3), failing(Policy::kBerth, 1)}),
            "berth fails to place the fewest: 1 pod.");
  EXPECT_EQ(placement_verdict({failing(Policy::kRandom, 3, 1), failing(Policy::kBerth, 1, 1)}),
            "berth fails to place the fewest: 1.0 pods on average.");
}

TEST(PlacementVerdict, BestIsWhoIsAheadByMoreThanTheSpread) {
  const auto with_spread = [](Policy policy, double mean, double sd, double failed) {
    return PolicyResult{.policy = policy,
                        .allocated_at_130 = Summary{.mean = mean, .sd = sd},
                        .failed = Summary{.mean = failed, .sd = 0.5}};
  };
  EXPECT_EQ(
      placement_verdict({with_spread(Policy::kFgd, 95, 0.18, 3), with_spread(Policy::kBerth, 95.05, 0.1, 4)}),
      "berth: 95.05 % of the GPUs allocated at 130 % demand; fgd is as good, within the spread of the seeds, 0.18. "
      "Others are better in failed (fgd 3.0, berth 4.0).");
  EXPECT_EQ(placement_verdict({with_spread(Policy::kFgd, 95, 0.18, 3), with_spread(Policy::kBerth, 96, 0.1, 3)}),
            "berth is best: 96.00 % of the GPUs allocated at 130 % demand, 1.00 points more than fgd, the next.");
}

TEST(PlacementVerdict, SharesThatTheTableShowsAlikeTie) {
  EXPECT_EQ(placement_verdict({allocating(Policy::kFgd, 90), allocating(Policy::kBerth, 91)}),
            "berth has the most in this run: 91.00 % of the GPUs allocated at 100 % demand, 1.00 points more than fgd, "
            "the next.");
  EXPECT_EQ(placement_verdict({allocating(Policy::kFgd, 90), allocating(Policy::kBerth, 90.004)}),
            "berth: 90.00 % of the GPUs allocated at 100 % demand; fgd is as good.");
  EXPECT_EQ(placement_verdict(
                {allocating(Policy::kRandom, 90), allocating(Policy::kFgd, 90), allocating(Policy::kBerth, 90.004)}),
            "berth: 90.00 % of the GPUs allocated at 100 % demand; random and 1 other are as good.");
}

}  // namespace
}  // namespace berth::placement
