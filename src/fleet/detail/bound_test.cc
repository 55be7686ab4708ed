#include "fleet/detail/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "base/test_cases.h"
#include "window/testing/exhaustive.h"
#include "window/testing/problems.h"

namespace berth::planner::fleet {
namespace {

/// What a search for prices found holds whatever it does: no schedule of a problem that was searched in full is better.
TEST(FleetBound, NoScheduleOfTinyProblemsIsAboveIt) {
  constexpr int kSeeds = berth::testing::by_build(25, 10);
  int known = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = testing::tiny_problem(Rng(seed));
    const std::optional<Answer> truth = testing::Exhaustive(problem).solve();
    if (!truth || truth->is_infeasible) continue;
    ++known;
    SCOPED_TRACE(seed);
    const Terms terms(problem);
    PriceSearch prices(terms, {SlotIndex(0)});
    prices.start_from_rents();
    prices.scale_rents(1'000);
    const double slack = 1e-6 * (1 + std::abs(truth->objective));
    EXPECT_GE(prices.bound() + slack, truth->objective);
    const double before = prices.bound();
    prices.run_balance({.steps = 20});
    EXPECT_GE(prices.bound() + slack, truth->objective);
    EXPECT_LE(prices.bound(), before + slack);
  }
  EXPECT_GT(known, kSeeds / 3);
}

TEST(FleetBound, BalanceComesNearTheLeastBoundOfAFleet) {
  const Problem problem = testing::fleet_problem(Rng(5), 24, 6, 60, 0);
  const Terms terms(problem);
  const std::vector<SlotIndex> starts = {SlotIndex(0), SlotIndex(20), SlotIndex(40)};
  PriceSearch balanced(terms, starts);
  balanced.start_from_rents();
  balanced.scale_rents(1'000);
  const double first = balanced.bound();
  balanced.run_balance({.steps = 80});
  PriceSearch slow(terms, starts);
  slow.start_from_rents();
  slow.run(0.8 * first, {.steps = 2'000, .novelty = 0.05});
  EXPECT_LT(balanced.bound(), first);
  EXPECT_LT(balanced.bound(), 1.01 * slow.bound());
}

}  // namespace
}  // namespace berth::planner::fleet
