#include "planner/goodput_bound/detail/dual.h"

#include <gtest/gtest.h>

#include <array>

#include "base/core/test_cases.h"
#include "planner/goodput_bound/testing/cases.h"
#include "planner/goodput_bound/testing/market.h"

namespace berth::bound::detail {
namespace {

using testing::draw_market;
using testing::kError;
using testing::Market;
using testing::Plans;

constexpr std::array kDualSharing = {1.0, 1.43, 1.86};
constexpr int kPlansMax = berth::testing::by_build(2000, 300);

std::span<const double> factors_of(bool is_shared) {
  return is_shared ? std::span<const double>(kDualSharing) : std::span<const double>();
}

/// Random prices and, where changes cost something, delays.
DualPoint draw_point(const Market& market, const Dual& dual, Rng rng) {
  DualPoint point = dual.origin();
  point.prices = testing::draw_prices(rng, market.supply.goods.size(), market.blocks, 1);
  for (auto& kinds : point.delays) {
    for (auto& yields : kinds) {
      for (std::vector<double>& row : yields) {
        for (double& share : row) share = testing::happens(rng, 30) ? 1 : rng.unit();
      }
    }
  }
  return point;
}

TEST(Dual, IsNeverBelowAPlanAtAnyPrices) {
  for (const bool is_shared : {false, true}) {
    for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(150, 20))) {
      const Market market = draw_market(seed);
      const double best = Plans(market, factors_of(is_shared)).best(Rng(seed).split("plans"), kPlansMax);
      std::vector<Demand> demands = market.demands();
      Dual dual(market.supply, demands, market.weights, market.blocks, factors_of(is_shared));
      DualPoint slope = dual.origin();
      EXPECT_GE(dual.value(dual.origin(), slope), best - kError) << "seed " << seed << ", shared " << is_shared;
      for (std::uint64_t i = 0; i < 10; ++i) {
        const DualPoint point = draw_point(market, dual, Rng(seed).split("point", i));
        EXPECT_GE(dual.value(point, slope), best - kError) << "seed " << seed << ", shared " << is_shared;
      }
    }
  }
}

TEST(Dual, SlopeOfPricesIsASubgradient) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 40))) {
    const Market market = draw_market(seed);
    std::vector<Demand> demands = market.demands();
    Dual dual(market.supply, demands, market.weights, market.blocks, factors_of(seed % 2 == 0));
    const DualPoint here = draw_point(market, dual, Rng(seed).split("here"));
    DualPoint there = draw_point(market, dual, Rng(seed).split("there"));
    there.delays = here.delays;
    DualPoint slope = dual.origin();
    DualPoint unused = slope;
    const double value = dual.value(here, slope);
    const double rise = testing::product(slope.prices, testing::difference(there.prices, here.prices));
    EXPECT_GE(dual.value(there, unused), value + rise - kError) << "seed " << seed;
  }
}

TEST(Dual, SlopeOfDelaysPointsUphill) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 40))) {
    const Market market = draw_market(seed);
    std::vector<Demand> demands = market.demands();
    Dual dual(market.supply, demands, market.weights, market.blocks, {});
    const DualPoint here = draw_point(market, dual, Rng(seed).split("here"));
    DualPoint slope = dual.origin();
    const double value = dual.value(here, slope);
    // The function is convex in each share alone, so moving it in the direction of the slope cannot lower the value.
    for (std::size_t kind = 0; kind < here.delays[0].size(); ++kind) {
      for (std::size_t yield = 0; yield < here.delays[0][kind].size(); ++yield) {
        for (std::size_t block = 1; block < here.delays[0][kind][yield].size(); ++block) {
          const double sign = slope.delays[0][kind][yield][block];
          DualPoint there = here;
          double& share = there.delays[0][kind][yield][block];
          share = sign > 0 ? 1 : sign < 0 ? 0 : Rng(seed).split("share", block).unit();
          DualPoint unused = dual.origin();
          EXPECT_GE(dual.value(there, unused), value - kError) << "seed " << seed;
        }
      }
    }
  }
}

/// One service of accuracy 1 with `requests` at second 0, and a GPU that answers `per_block` in each of two blocks.
Market plain_market(std::size_t requests, double per_block, double dead_seconds) {
  Market market;
  market.blocks = {.end_us = 2'000'000, .block_us = 1'000'000};
  ServiceSpec& service = market.services.emplace_back();
  service.target = Micros(500'000);
  service.arrivals.seconds = 2;
  market.at_us.emplace_back(requests, 0);
  market.weights = {0.5};
  market.supply.goods = {{.service = 0, .variant = 0, .dead_seconds = dead_seconds, .per_second_max = per_block}};
  market.supply.groups = {
      {.gpu_count = 2,
       .kinds = {{.yields = {{.good = 0, .alone = {per_block, per_block}, .shared = {per_block, per_block}}}}},
       .sets = {{.counts = {{.kind = 0, .count = 1}}}}}};
  return market;
}

TEST(Dual, IsWhatGpusAndServicesGainTogether) {
  const Market market = plain_market(10, 3, 0);
  std::vector<Demand> demands = market.demands();
  Dual dual(market.supply, demands, market.weights, market.blocks, {});
  DualPoint point = dual.origin();
  DualPoint slope = point;
  EXPECT_NEAR(dual.value(point, slope), 0.5 * 10, kError) << "for nothing, all are answered";
  EXPECT_NEAR(slope.prices[0][0], 0.5 * -10, kError) << "GPUs make nothing at a price of 0";
  point.prices[0] = {0.25, 0};
  EXPECT_NEAR(dual.value(point, slope), 0.5 * (10 * 0.75 + 2 * 3 * 0.25), kError);
  EXPECT_NEAR(slope.prices[0][0], 0.5 * (2 * 3 - 10), kError);
  point.prices[0] = {1, 0};
  EXPECT_NEAR(dual.value(point, slope), 0.5 * 6, kError) << "what GPUs can make";
}

TEST(Dual, SharedSlicesMakeWhatTheFactorsLeave) {
  // Two services like the one of the plain market, on the same slices: the one that gains more from it is not slowed.
  Market market = plain_market(10, 3, 0);
  market.services.push_back(market.services[0]);
  market.at_us.push_back(market.at_us[0]);
  market.weights = {0.5, 0.25};
  market.supply.goods.push_back({.service = 1, .variant = 0, .dead_seconds = 0, .per_second_max = 3});
  std::vector<Yield>& yields = market.supply.groups[0].kinds[0].yields;
  yields.push_back(yields[0]);
  yields.back().good = 1;
  std::vector<Demand> demands = market.demands();
  Dual dual(market.supply, demands, market.weights, market.blocks, kDualSharing);
  DualPoint point = dual.origin();
  DualPoint slope = point;
  point.prices = {{1, 0}, {1, 0}};
  EXPECT_NEAR(dual.value(point, slope), 2 * 3 * (0.5 + 0.25 / 1.43), kError);
  EXPECT_NEAR(slope.prices[0][0], 0.5 * 2 * 3, kError);
  EXPECT_NEAR(slope.prices[1][0], 0.25 * 2 * 3 / 1.43, kError);
  Dual apart(market.supply, demands, market.weights, market.blocks, {});
  EXPECT_NEAR(apart.value(point, slope), 2 * 3 * 0.5, kError);
}

TEST(Dual, KnowsDelaysOnlyWhereAChangeLosesABlock) {
  const auto delays_of = [](double dead_seconds, std::span<const double> factors) {
    const Market market = plain_market(1, 1, dead_seconds);
    std::vector<Demand> demands = market.demands();
    return Dual(market.supply, demands, market.weights, market.blocks, factors).origin().delays[0][0][0].size();
  };
  EXPECT_EQ(delays_of(0.9, {}), 0U);
  EXPECT_EQ(delays_of(1, {}), 2U);
  EXPECT_EQ(delays_of(1, kDualSharing), 0U);
}

TEST(Dual, ScalesAreAnAnswerAndTheAnswersDuringARetraining) {
  Market market = plain_market(10, 3, 0);
  market.supply.goods.push_back({.service = 0, .variant = kRetrainingGood, .dead_seconds = 0, .per_second_max = 0.25});
  std::vector<Demand> demands = market.demands();
  const Dual dual(market.supply, demands, market.weights, market.blocks, {});
  // 10 requests in 2 s; the fastest retraining takes 4 s.
  EXPECT_EQ(dual.price_scales(), (std::vector<double>{1, 20}));
}

}  // namespace
}  // namespace berth::bound::detail
