// Branching on the numbers of GPUs of each offer, through the search that uses it: fleets of several GPU models.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/detail/plan_search.h"
#include "planner/packing/detail/relaxation.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

constexpr std::uint64_t kCountBranchingCases = berth::testing::by_build(300, 60);
constexpr std::int64_t kCountBranchingNodes = 2'000'000;

/// Two or three models, each with a price, some with a count that binds.
std::optional<reference::SolvedProblem> draw_fleet(std::uint64_t seed) {
  Rng rng = Rng(seed).split("fleet");
  PackingProblem problem = reference::ProblemGenerator(seed).draw();
  if (problem.offers.size() < 2) return std::nullopt;
  for (GpuOffer& offer : problem.offers) {
    offer.micro_usd_per_hour = static_cast<std::int64_t>(1 + rng.below(40));
    offer.count_max.reset();
    if (rng.below(2) == 0) offer.count_max = static_cast<std::int64_t>(rng.below(4));
  }
  problem.rules.keeps_tenants_apart = rng.below(2) == 0;
  auto instance = make_instance(problem);
  if (!instance || instance->demands.empty()) return std::nullopt;
  reference::Exhaustive exhaustive(problem);
  std::optional<reference::Optimum> optimum = exhaustive.solve();
  if (exhaustive.has_given_up()) return std::nullopt;
  return reference::SolvedProblem{std::move(problem), *std::move(instance), optimum};
}

TEST(CountBranching, MixedFleetsAreSolvedToTheOptimum) {
  int judged = 0;
  int proven = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kCountBranchingCases)) {
    const auto fleet = draw_fleet(seed);
    if (!fleet || !fleet->optimum) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++judged;
    Budget budget{.nodes_max = kCountBranchingNodes};
    const auto plan = PlanSearch(fleet->instance, budget).cheapest();
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(reference::find_cover_fault(fleet->instance, plan->covers), std::nullopt);
    ASSERT_TRUE(plan->is_within_counts);
    ASSERT_EQ(plan->price, fleet->price());
    ASSERT_LE(plan->bound, plan->price);
    if (plan->bound == plan->price) ++proven;
  }
  EXPECT_GT(judged * 10, static_cast<int>(kCountBranchingCases));
  EXPECT_GT(proven * 100, judged * 95);
}

TEST(CountBranching, FleetsThatAreTooSmallAreRefused) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kCountBranchingCases)) {
    const auto fleet = draw_fleet(seed);
    if (!fleet || fleet->optimum) continue;
    ++judged;
    Budget budget{.nodes_max = kCountBranchingNodes};
    const auto plan = PlanSearch(fleet->instance, budget).cheapest();
    ASSERT_FALSE(plan.has_value()) << "seed " << seed;
    ASSERT_TRUE(plan.error().is_proven) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

// With few nodes the bound may be weak, but it holds, and a plan is legal.
TEST(CountBranching, HoldsWithAnyBudget) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kCountBranchingCases)) {
    const auto fleet = draw_fleet(seed);
    if (!fleet) continue;
    for (const std::int64_t nodes_max : {0, 200, 3'000, 40'000}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(nodes_max) + " nodes");
      Budget budget{.nodes_max = nodes_max};
      const auto plan = PlanSearch(fleet->instance, budget).cheapest();
      if (!plan) {
        ASSERT_FALSE(plan.error().is_proven && fleet->optimum);
        continue;
      }
      ASSERT_TRUE(fleet->optimum.has_value());
      ASSERT_TRUE(plan->is_within_counts);
      ASSERT_GE(plan->price, fleet->price());
      ASSERT_LE(plan->bound, fleet->price());
    }
  }
}

/// One small demand: a seventh of an expensive A100, or a T4 of its own.
PackingProblem small_demand_on_a_large_gpu() {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model("A100-80GB"), .micro_usd_per_hour = 10});
  problem.offers.push_back({.model = *mig::find_gpu_model("T4-16GB"), .micro_usd_per_hour = 3});
  problem.demands.push_back(
      {.model = "m", .tenant = "m", .requests_per_second = Decimal(1), .latency_ms = Decimal(100)});
  problem.tables.push_back({.model = "m",
                            .points = {{"A100-80GB", "1g.10gb", 1, 1, Decimal(1), Decimal(10)},
                                       {"T4-16GB", kFullProfileName, 1, 1, Decimal(1), Decimal(10)}}});
  return problem;
}

TEST(CountBranching, WholeGpusRaiseAWeakBound) {
  const Instance instance = *make_instance(small_demand_on_a_large_gpu());
  const RelaxedProblem by_price{
      .counts_slices = false, .limits = count_limits(instance), .extra = Counts(instance.kinds.size(), 0)};
  EXPECT_LT(relax(instance, by_price).bound, 3);
  Budget budget{.nodes_max = kCountBranchingNodes};
  const auto plan = PlanSearch(instance, budget).cheapest();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->price, 3);
  EXPECT_EQ(plan->bound, 3);
}

// Without T4s the A100 has to be whole.
TEST(CountBranching, CountsOfTheOffersBind) {
  PackingProblem problem = small_demand_on_a_large_gpu();
  problem.offers[1].count_max = 0;
  const Instance instance = *make_instance(problem);
  Budget budget{.nodes_max = kCountBranchingNodes};
  const auto plan = PlanSearch(instance, budget).cheapest();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->price, 10);
  EXPECT_EQ(plan->bound, 10);
}

}  // namespace
}  // namespace berth::packing::detail
