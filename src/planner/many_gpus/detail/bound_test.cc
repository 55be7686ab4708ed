#include "planner/many_gpus/detail/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/window/check.h"
#include "planner/window/testing/exhaustive.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::fleet {
namespace {

/// The bound of a price search is valid whatever the search does: it is compared with exhaustively solved problems.
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

ServiceTerms serving(double value, double start_seconds, int changes_max) {
  ServiceTerms service;
  service.value = value;
  service.loads.assign(31, 10);
  service.variants = {{}};
  service.start_seconds = start_seconds;
  service.changes_max = changes_max;
  return service;
}

/// One free site, a service that may not create slices, and another one without such a limit.
Problem site_with_a_budget() {
  Problem problem;
  problem.slots = 30;
  problem.tail_seconds = 30;
  const Rates rates{.requests_per_second = {10}};
  Site site;
  site.kind = KindIndex(0);
  problem.models = {{.sites = {site}, .rates = {{rates, rates}}, .sms = {14}}};
  problem.gpus.resize(1);
  problem.services = {serving(1, 2, 0), serving(0.01, 0, -1)};
  return problem;
}

/// The other service creates the slice and hands it over as soon as allowed: that uses none of the budget, and an
/// earlier hand-over is worth more.
TEST(FleetBound, CountsASliceThatIsTakenOverAtOnce) {
  const Problem problem = site_with_a_budget();
  const auto held_by = [](int service) {
    return Configuration{{.site = SiteIndex(0), .service = ServiceIndex(service)}};
  };
  const Schedule schedule{
      .gpus = {{{.slot = SlotIndex(0), .to = held_by(1)}, {.slot = SlotIndex(1), .to = held_by(0)}}}};
  ASSERT_FALSE(find_fault(problem, schedule).has_value());
  const double objective = evaluate(problem, schedule).objective;
  const Terms terms(problem);
  PriceSearch prices(terms, {SlotIndex(0), SlotIndex(15)});
  prices.start_from_rents();
  prices.run(objective, {.steps = 200});
  EXPECT_LT(prices.bound(), objective);
  EXPECT_GE(prices.proven_bound(), objective);
  EXPECT_LT(prices.proven_bound(), 1.1 * objective);
}

}  // namespace
}  // namespace berth::planner::fleet
