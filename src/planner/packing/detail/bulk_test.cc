#include "planner/packing/detail/bulk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

constexpr std::uint64_t kBulkCases = berth::testing::by_build(2000, 300);

/// Demands with these rates; every kind serves them with its throughput.
Instance bulk_instance_of(const std::vector<Int128>& rates, const std::vector<Int128>& throughput) {
  Instance instance;
  instance.kinds.resize(throughput.size());
  for (const Int128 rate : rates) {
    instance.demands.push_back({.demand = 0, .pool = 0, .rate = rate, .throughput = throughput});
  }
  return instance;
}

Int128 served_by(const InstanceDemand& demand, const Counts& counts) {
  Int128 sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) sum += demand.throughput[k] * counts[k];
  return sum;
}

/// A fractional optimum with these slices of each demand.
Relaxation mean_of(std::vector<std::vector<double>> mean_covers) {
  Relaxation relaxation;
  relaxation.mean_covers = std::move(mean_covers);
  return relaxation;
}

TEST(Bulk, SmallDemandsHaveNone) {
  const Instance instance = bulk_instance_of({60, 5}, {10});
  EXPECT_FALSE(take_bulk(instance, mean_of({{6.4}, {0.5}})).has_value());
  EXPECT_FALSE(take_bulk(instance, mean_of({})).has_value()) << "no fractional optimum";
}

TEST(Bulk, SettlesMostOfALargeDemand) {
  const Instance instance = bulk_instance_of({1000, 5}, {10, 7});
  const auto bulk = take_bulk(instance, mean_of({{93.7, 9.0}, {0.5, 0}}));
  ASSERT_TRUE(bulk.has_value());
  const Counts& settled = bulk->by_demand[0];
  EXPECT_GT(settled[0], 80);
  EXPECT_LT(settled[0], 93);
  EXPECT_GT(settled[1], 0);
  EXPECT_EQ(bulk->by_demand[1], (Counts{0, 0}));
  EXPECT_EQ(bulk->counts, settled);
  EXPECT_EQ(bulk->rest.demands[0].rate, 1000 - served_by(instance.demands[0], settled));
  EXPECT_EQ(bulk->rest.demands[1].rate, 5);
}

// The settled slices would meet the rate alone: the search would have no choice left.
TEST(Bulk, ADemandThatWouldBeMetIsLeftToTheSearch) {
  const Instance instance = bulk_instance_of({100, 1000}, {10});
  const auto bulk = take_bulk(instance, mean_of({{16.0}, {100.0}}));
  ASSERT_TRUE(bulk.has_value());
  EXPECT_EQ(bulk->by_demand[0], (Counts{0}));
  EXPECT_EQ(bulk->rest.demands[0].rate, 100);
}

TEST(Bulk, IsTheSumOfItsDemandsAndLeavesEachARest) {
  int settled_some = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kBulkCases)) {
    Rng rng = Rng(seed).split("bulk");
    const std::vector<Int128> throughput = {static_cast<Int128>(1 + rng.below(9)), static_cast<Int128>(rng.below(9))};
    std::vector<Int128> rates;
    Relaxation relaxation;
    for (std::uint64_t d = 1 + rng.below(3); d > 0; --d) {
      rates.push_back(static_cast<Int128>(1 + rng.below(400)));
      relaxation.mean_covers.push_back({60 * rng.unit(), throughput[1] == 0 ? 0 : 60 * rng.unit()});
    }
    const Instance instance = bulk_instance_of(rates, throughput);
    const auto bulk = take_bulk(instance, relaxation);
    if (!bulk) continue;
    ++settled_some;
    ASSERT_EQ(bulk->counts, reference::sum_of(instance, bulk->by_demand)) << "seed " << seed;
    ASSERT_TRUE(std::ranges::any_of(bulk->counts, [](std::int32_t n) { return n > 0; }));
    for (std::size_t d = 0; d < rates.size(); ++d) {
      ASSERT_GT(bulk->rest.demands[d].rate, 0) << "seed " << seed;
      ASSERT_EQ(bulk->rest.demands[d].rate + served_by(instance.demands[d], bulk->by_demand[d]), rates[d]);
      for (std::size_t k = 0; k < throughput.size(); ++k) {
        ASSERT_LE(bulk->by_demand[d][k], relaxation.mean_covers[d][k]) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(settled_some, 0);
}

TEST(WithBulk, CoversTheWholeDemandWithoutSurplus) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kBulkCases)) {
    Rng rng = Rng(seed).split("whole");
    std::vector<Int128> throughput;
    for (int k = 0; k < 3; ++k) throughput.push_back(static_cast<Int128>(1 + rng.below(12)));
    const Instance instance = bulk_instance_of({static_cast<Int128>(100 + rng.below(400))}, throughput);
    Relaxation relaxation;
    relaxation.mean_covers.push_back({30 * rng.unit(), 30 * rng.unit(), 10 * rng.unit()});
    const auto bulk = take_bulk(instance, relaxation);
    if (!bulk) continue;
    ++judged;
    // A cover of the rest, with slices to spare.
    Counts rest(3, 0);
    while (served_by(instance.demands[0], rest) < bulk->rest.demands[0].rate) ++rest[rng.below(3)];
    for (std::uint64_t i = rng.below(4); i > 0; --i) ++rest[rng.below(3)];
    const CoverChoice whole = with_bulk(instance, *bulk, {rest});
    ASSERT_EQ(reference::find_cover_fault(instance, whole), std::nullopt) << "seed " << seed;
    for (std::size_t k = 0; k < 3; ++k) ASSERT_LE(whole[0][k], bulk->by_demand[0][k] + rest[k]) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

// 5 are to spare: a slice of 4 goes, then one of 1.
TEST(WithBulk, TheFastestSurplusGoesFirst) {
  const Instance instance = bulk_instance_of({10}, {1, 4});
  const Bulk bulk{.by_demand = {{3, 1}}, .counts = {3, 1}, .rest = instance};
  EXPECT_EQ(with_bulk(instance, bulk, {{0, 2}}), (CoverChoice{{2, 2}}));
}

}  // namespace
}  // namespace berth::packing::detail
