#include "planner/packing/detail/plan_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

using reference::SolvedProblem;

constexpr std::uint64_t kPlanSearchCases = berth::testing::by_build(200, 40);
constexpr std::int64_t kPlanSearchNodes = 2'000'000;

/// Why the numbers of a plan are not those of its covers, or nothing.
std::optional<std::string> find_fault(const Instance& instance, const FoundPlan& plan) {
  if (auto fault = reference::find_cover_fault(instance, plan.covers)) return fault;
  std::vector<Counts> pools(instance.pool_count, Counts(instance.kinds.size(), 0));
  if (plan.free) ++pools[plan.free_pool][*plan.free];
  std::int64_t slices = 0;
  std::int64_t sms = 0;
  for (std::size_t d = 0; d < plan.covers.size(); ++d) {
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      pools[instance.demands[d].pool][k] += plan.covers[d][k];
      slices += plan.covers[d][k];
      sms += std::int64_t{plan.covers[d][k]} * instance.kinds[k].sms;
    }
  }
  Budget budget{.nodes_max = kPlanSearchNodes};
  std::int64_t price = 0;
  std::int64_t all = 0;
  for (std::uint32_t o = 0; o < instance.offers.size(); ++o) {
    GpuFiller filler(instance, o);
    std::int64_t gpus = 0;
    for (const Counts& pool : pools) gpus += filler.gpus_for(pool, budget).gpus;
    if (gpus > instance.offers[o].count_max.value_or(gpus)) return "more GPUs than the offer has";
    price += gpus * instance.offers[o].price;
    all += gpus;
  }
  if (!plan.is_within_counts) return "says that there are too many GPUs";
  if (plan.price != price || plan.gpus != all) return "another price or number of GPUs";
  return plan.slices == slices && plan.sms == sms ? std::nullopt : std::optional<std::string>("another size");
}

TEST(PlanSearch, TheCheapestPlanHasTheLeastPrice) {
  int judged = 0;
  int proven = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kPlanSearchCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++judged;
    Budget budget{.nodes_max = kPlanSearchNodes};
    const auto plan = PlanSearch(solved.instance, budget).cheapest();
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(find_fault(solved.instance, *plan), std::nullopt);
    ASSERT_EQ(plan->price, solved.price());
    ASSERT_LE(plan->bound, plan->price);
    if (plan->bound == plan->price) ++proven;
  }
  EXPECT_GT(judged * 2, static_cast<int>(kPlanSearchCases));
  EXPECT_GT(proven * 100, judged * 95);
}

TEST(PlanSearch, SaysThatThereIsNoPlan) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(2 * kPlanSearchCases)) {
    const auto solved = reference::draw_solved(seed);
    if (!solved || solved->optimum) continue;
    ++judged;
    Budget budget{.nodes_max = kPlanSearchNodes};
    const auto plan = PlanSearch(solved->instance, budget).cheapest();
    ASSERT_FALSE(plan.has_value()) << "seed " << seed;
    ASSERT_TRUE(plan.error().is_proven) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

TEST(PlanSearch, BoundAndPlanHoldWithAnyBudget) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kPlanSearchCases)) {
    const auto solved = reference::draw_solved(seed);
    if (!solved) continue;
    for (const std::int64_t nodes_max : {0, 10, 300, 5'000}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(nodes_max) + " nodes");
      Budget budget{.nodes_max = nodes_max};
      const auto plan = PlanSearch(solved->instance, budget).cheapest();
      if (!plan) {
        ASSERT_FALSE(plan.error().is_proven && solved->optimum);
        continue;
      }
      ASSERT_TRUE(solved->optimum.has_value());
      ASSERT_EQ(reference::find_cover_fault(solved->instance, plan->covers), std::nullopt);
      ASSERT_GE(plan->price, solved->price());
      ASSERT_LE(plan->bound, solved->price());
    }
  }
}

// With GPUs that cost nothing, the plan takes the fewest.
TEST(PlanSearch, OfGpusThatCostNothingItTakesTheFewest) {
  int judged = 0;
  int fewest = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kPlanSearchCases)) {
    PackingProblem problem = reference::ProblemGenerator(seed).draw();
    for (GpuOffer& offer : problem.offers) offer.micro_usd_per_hour.reset();
    reference::Exhaustive exhaustive(problem);
    const auto truth = exhaustive.solve();
    if (!truth || exhaustive.has_given_up()) continue;
    for (GpuOffer& offer : problem.offers) offer.micro_usd_per_hour = 0;
    const auto instance = make_instance(problem);
    if (!instance || instance->demands.empty()) continue;
    ++judged;
    Budget budget{.nodes_max = kPlanSearchNodes};
    const auto plan = PlanSearch(*instance, budget).cheapest();
    ASSERT_TRUE(plan.has_value()) << "seed " << seed;
    ASSERT_EQ(plan->price, 0);
    ASSERT_GE(plan->gpus, truth->cost) << "seed " << seed;
    if (plan->gpus == truth->cost) ++fewest;
  }
  EXPECT_GT(judged * 2, static_cast<int>(kPlanSearchCases));
  EXPECT_GT(fewest * 10, judged * 9);
}

/// The best plans that keep a slice free: of the largest size that some plan as good as the first one keeps.
struct Freed {
  reference::FreeSize size;
  std::vector<FoundPlan> plans;
  bool is_sure = true;  ///< there is none of a larger size, and the slice counts are proven
};

Freed free_largest(const Instance& instance, PlanSearch& search, const FoundPlan& plan) {
  Freed freed;
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
    if (!instance.kinds[k].is_plain) continue;
    const reference::FreeSize size{instance.kinds[k].sms, instance.kinds[k].length};
    for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
      PlanSearch::FreeAnswer answer = search.with_free(plan, k, pool);
      if (!answer.plan) {
        if (!answer.is_proven_none) freed.is_sure = false;
        continue;
      }
      EXPECT_FALSE(answer.is_proven_none);
      EXPECT_EQ(find_fault(instance, *answer.plan), std::nullopt);
      EXPECT_EQ(answer.plan->price, plan.price);
      EXPECT_EQ(answer.plan->free, k);
      if (size < freed.size) continue;
      if (size > freed.size) freed.plans.clear();
      freed.size = size;
      freed.plans.push_back(*answer.plan);
    }
  }
  if (freed.plans.empty()) freed.plans.push_back(plan);
  return freed;
}

TEST(PlanSearch, KeepsTheLargestSliceFreeThenTakesTheFewestSlices) {
  int judged = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kPlanSearchCases)) {
    const Instance& instance = solved.instance;
    if (std::ranges::any_of(instance.offers, [](const OfferedGpus& offer) { return offer.price == 0; })) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Budget budget{.nodes_max = kPlanSearchNodes};
    PlanSearch search(instance, budget);
    const auto cheapest = search.cheapest();
    ASSERT_TRUE(cheapest.has_value());
    Freed freed = free_largest(instance, search, *cheapest);
    ASSERT_LE(freed.size, solved.optimum->largest_free);
    ASSERT_TRUE(!freed.is_sure || freed.size == solved.optimum->largest_free);
    std::int64_t slices = INT64_MAX;
    for (FoundPlan& plan : freed.plans) {
      const std::int64_t before = plan.slices;
      search.lower_slices(plan);
      ASSERT_EQ(find_fault(instance, plan), std::nullopt);
      ASSERT_EQ(plan.price, cheapest->price);
      ASSERT_LE(plan.slices, before);
      freed.is_sure = freed.is_sure && plan.is_slice_count_proven;
      slices = std::min(slices, plan.slices);
    }
    if (!freed.is_sure) continue;
    ++judged;
    ASSERT_EQ(slices, solved.optimum->slices);
  }
  EXPECT_GT(judged * 10, static_cast<int>(kPlanSearchCases) * 3);
}

/// A demand for 1g slices on A30s.
PackingProblem small_slices(int slices) {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model("A30-24GB")});
  problem.demands.push_back(
      {.model = "m", .tenant = "m", .requests_per_second = Decimal(slices), .latency_ms = Decimal(100)});
  problem.tables.push_back({.model = "m", .points = {{"A30-24GB", "1g.6gb", 1, 1, Decimal(1), Decimal(10)}}});
  return problem;
}

TEST(PlanSearch, SettledSlicesTakeRoom) {
  const Instance instance = *make_instance(small_slices(3));
  Counts settled(instance.kinds.size(), 0);
  const auto price_with = [&](std::int32_t slices) {
    settled[0] = slices;
    Budget budget{.nodes_max = kPlanSearchNodes};
    return PlanSearch(instance, budget, settled).cheapest()->price;
  };
  EXPECT_EQ(price_with(0), 1);
  EXPECT_EQ(price_with(1), 1);
  EXPECT_EQ(price_with(2), 2);
  EXPECT_EQ(price_with(6), 3);
}

TEST(PlanSearch, ALargeDemandIsServedNearItsBound) {
  PackingProblem problem = small_slices(4000);
  problem.tables[0].points.push_back({"A30-24GB", "2g.12gb", 1, 1, *Decimal::parse("2.1"), Decimal(10)});
  const Instance instance = *make_instance(problem);
  Budget budget{.nodes_max = kPlanSearchNodes};
  const auto plan = PlanSearch(instance, budget).cheapest();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(find_fault(instance, *plan), std::nullopt);
  EXPECT_EQ(plan->price, 953) << "4000 / 4.2, rounded up";
  EXPECT_EQ(plan->bound, 953);
}

}  // namespace
}  // namespace berth::packing::detail
