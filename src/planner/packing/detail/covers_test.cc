#include "planner/packing/detail/covers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/core/rng.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

InstanceDemand instance_demand_of(Int128 rate, std::vector<Int128> throughput) {
  return {.demand = 0, .pool = 0, .rate = rate, .throughput = std::move(throughput)};
}

Int128 recounted_rate(const InstanceDemand& demand, const Counts& cover) {
  Int128 sum = 0;
  for (std::size_t k = 0; k < cover.size(); ++k) sum += demand.throughput[k] * cover[k];
  return sum;
}

bool has_surplus(const InstanceDemand& demand, const Counts& cover) {
  for (std::size_t k = 0; k < cover.size(); ++k) {
    if (cover[k] > 0 && recounted_rate(demand, cover) - demand.throughput[k] >= demand.rate) return true;
  }
  return false;
}

/// Every minimal cover, by trying all counts.
std::set<Counts> all_minimal(const InstanceDemand& demand) {
  std::set<Counts> covers;
  Counts counts(demand.throughput.size(), 0);
  const std::function<void(std::size_t)> visit = [&](std::size_t k) {
    if (k == counts.size()) {
      if (recounted_rate(demand, counts) >= demand.rate && !has_surplus(demand, counts)) covers.insert(counts);
      return;
    }
    const Int128 most = demand.throughput[k] == 0 ? 0 : (demand.rate + demand.throughput[k] - 1) / demand.throughput[k];
    for (std::int32_t n = 0; n <= most; ++n) {
      counts[k] = n;
      visit(k + 1);
    }
    counts[k] = 0;
  };
  visit(0);
  return covers;
}

TEST(Covers, ALargerSliceMayBeSlower) {
  // 3 of the first, or 2 of the second, or one of each; the third kind cannot serve the demand.
  const InstanceDemand demand = instance_demand_of(10, {4, 6, 0});
  const Weights weights{{1, 1, 1}, 0};
  Budget budget{.nodes_max = 1000};
  const CoverList list = minimal_covers(demand, std::vector<CoverLimit>{{&weights, 100}}, 100, budget);
  EXPECT_TRUE(list.is_complete);
  EXPECT_EQ(std::set<Counts>(list.covers.begin(), list.covers.end()), all_minimal(demand));
  EXPECT_EQ(list.covers.front(), (Counts{0, 2, 0}));
}

TEST(Covers, ARateThatIsExactlyMetIsMet) {
  const InstanceDemand demand = instance_demand_of(12, {4});
  EXPECT_EQ(lightest_cover(demand, {{5}, 0}).cover, (Counts{3}));
  EXPECT_EQ(lightest_cover(instance_demand_of(13, {4}), {{5}, 0}).cover, (Counts{4}));
}

TEST(Covers, SaysWhenThereAreMore) {
  const InstanceDemand demand = instance_demand_of(10, {4, 6, 5});
  const Weights weights{{1, 1, 1}, 0};
  Budget budget{.nodes_max = 1000};
  EXPECT_FALSE(minimal_covers(demand, std::vector<CoverLimit>{{&weights, 100}}, 2, budget).is_complete);
  Budget few{.nodes_max = 3};
  EXPECT_FALSE(minimal_covers(demand, std::vector<CoverLimit>{{&weights, 100}}, 100, few).is_complete);
}

TEST(Covers, HugeRatesKeepTheirBound) {
  // Weights that are different for all kinds make the exact search long; the bound must still be valid.
  const InstanceDemand demand = instance_demand_of(Int128{1} << 90, {(Int128{1} << 75) + 1, (Int128{1} << 74) - 3});
  const LightestCover lightest = lightest_cover(demand, {{2'000'003, 1'000'001}, 0});
  EXPECT_GE(recounted_rate(demand, lightest.cover), demand.rate);
  const Weights weights{{2'000'003, 1'000'001}, 0};
  EXPECT_LE(lightest.bound, weights.of(lightest.cover));
  EXPECT_GT(lightest.bound, weights.of(lightest.cover) / 1'000'000 * 999'000);
}

/// Compared with full enumeration on random demands: the lightest cover, and all covers within limits.
TEST(Covers, AgreeWithTryingEverything) {
  Rng rng(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Int128> throughput;
    Weights weights;
    Weights other;
    const auto kinds = 1 + rng.below(4);
    for (std::uint64_t k = 0; k < kinds; ++k) {
      throughput.push_back(static_cast<Int128>(rng.below(9)));
      weights.by_kind.push_back(static_cast<std::int64_t>(rng.below(6)));
      other.by_kind.push_back(static_cast<std::int64_t>(rng.below(6)));
    }
    throughput[rng.below(kinds)] = 1 + static_cast<Int128>(rng.below(8));
    weights.per_slice = static_cast<std::int64_t>(rng.below(2));
    const InstanceDemand demand = instance_demand_of(1 + static_cast<Int128>(rng.below(20)), throughput);
    const std::set<Counts> all = all_minimal(demand);
    const std::int64_t least =
        weights.of(*std::ranges::min_element(all, {}, [&](const Counts& cover) { return weights.of(cover); }));
    const LightestCover lightest = lightest_cover(demand, weights);
    ASSERT_EQ(lightest.bound, least) << round;
    ASSERT_EQ(weights.of(lightest.cover), least) << round;
    ASSERT_GE(recounted_rate(demand, lightest.cover), demand.rate) << round;

    const std::vector<CoverLimit> limits = {{&weights, least + static_cast<std::int64_t>(rng.below(6))},
                                            {&other, static_cast<std::int64_t>(rng.below(30))}};
    std::set<Counts> wanted;
    for (const Counts& cover : all) {
      if (weights.of(cover) <= limits[0].weight_max && other.of(cover) <= limits[1].weight_max) wanted.insert(cover);
    }
    Budget budget{.nodes_max = 1'000'000};
    const CoverList list = minimal_covers(demand, limits, 100'000, budget);
    ASSERT_TRUE(list.is_complete);
    ASSERT_EQ(std::set<Counts>(list.covers.begin(), list.covers.end()), wanted) << round;
    ASSERT_EQ(list.covers.size(), wanted.size()) << round;
    ASSERT_TRUE(std::ranges::is_sorted(list.covers, {}, [&](const Counts& cover) { return weights.of(cover); }));
  }
}

TEST(Budget, IsSpentAtItsLimit) {
  Budget budget{.nodes_max = 2, .nodes = 1};
  EXPECT_FALSE(budget.is_spent());
  ++budget.nodes;
  EXPECT_TRUE(budget.is_spent());
}

TEST(BudgetShare, LimitsTheRestWhileItLives) {
  Budget budget{.nodes_max = 100, .nodes = 20};
  {
    const BudgetShare half(budget, 2);
    EXPECT_EQ(budget.nodes_max, 60);
    {
      const BudgetShare quarter(budget, 4);
      EXPECT_EQ(budget.nodes_max, 30);
      budget.nodes = 30;
    }
    EXPECT_EQ(budget.nodes_max, 60);
  }
  EXPECT_EQ(budget.nodes_max, 100);
  EXPECT_EQ(budget.nodes, 30) << "what was used counts";
}

TEST(BudgetShare, OfASpentBudgetIsNothing) {
  Budget budget{.nodes_max = 10, .nodes = 25};
  const BudgetShare share(budget, 1);
  EXPECT_EQ(budget.nodes_max, 25);
  EXPECT_TRUE(budget.is_spent());
}

TEST(Weights, OfACoverAreOfItsKindsAndItsSlices) {
  const Weights weights{{5, 0, 7}, 2};
  EXPECT_EQ(weights.of_kind(1), 2);
  EXPECT_EQ(weights.of({1, 3, 2}), 5 + 2 * 7 + 6 * 2);
  EXPECT_EQ(weights.of({0, 0, 0}), 0);
}

// Realistic demands, with weights as large as those of the relaxation.
TEST(LightestCover, OfRealDemandsIsNoHeavierThanAnySimpleOne) {
  int judged = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto instance = make_instance(reference::ProblemGenerator(seed).draw());
    if (!instance) continue;
    Rng rng = Rng(seed).split("weights");
    Weights weights{{}, static_cast<std::int64_t>(rng.below(2))};
    for (std::size_t k = 0; k < instance->kinds.size(); ++k) {
      weights.by_kind.push_back(static_cast<std::int64_t>(rng.below(std::uint64_t{1} << 39)));
    }
    for (const InstanceDemand& demand : instance->demands) {
      ++judged;
      const LightestCover lightest = lightest_cover(demand, weights);
      ASSERT_LE(lightest.bound, weights.of(lightest.cover)) << "seed " << seed;
      for (std::size_t k = 0; k < instance->kinds.size(); ++k) {
        if (demand.throughput[k] == 0) continue;
        Counts alone(instance->kinds.size(), 0);
        alone[k] = static_cast<std::int32_t>((demand.rate + demand.throughput[k] - 1) / demand.throughput[k]);
        ASSERT_LE(lightest.bound, weights.of(alone)) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(judged, 300);
}

}  // namespace
}  // namespace berth::packing::detail
