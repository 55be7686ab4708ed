#include "planner/many_gpus/detail/supply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/detail/demand.h"
#include "planner/many_gpus/testing/prices.h"
#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

constexpr std::uint64_t kSupplySeeds = berth::testing::by_build(40, 12);
constexpr int kEveryGpu = 1'000'000;
constexpr double kNoSpread = 1e-12;  ///< only the best pieces, and those of equal worth

Problem supply_problem(std::uint64_t seed, int rules_percent) {
  return testing::ProblemGenerator(testing::shape_of_market({"A30-24GB", "A100-80GB"}, rules_percent), Rng(seed))
      .draw();
}

/// The tables of one problem, and prices for it.
struct Market {
  explicit Market(std::uint64_t seed, int rules_percent) : Market(supply_problem(seed, rules_percent), seed) {}
  Market(Problem of, std::uint64_t seed) : problem(std::move(of)), rng(Rng(seed).split("prices")) { prices = draw(); }
  Market(const Market&) = delete;  // the tables point to each other
  Market& operator=(const Market&) = delete;
  ~Market() = default;

  std::vector<double> draw() { return testing::any_prices(demand.price_max(), demand.scales(), rng); }
  double value(const std::vector<double>& at, std::vector<double>& slope) {
    slope.assign(frame.prices, 0);
    return supply.value(at, kNoSpread, slope);
  }

  Problem problem;
  Rng rng;
  Terms terms{problem};
  PriceFrame frame{terms, testing::starts_of_market()};
  Demand demand{frame};
  Supply supply{frame};
  std::vector<double> prices;
};

/// No schedule earns more at any prices.
TEST(FleetSupply, NoScheduleEarnsMore) {
  int judged = 0;
  double best_share = 0;
  for (std::uint64_t seed = 0; seed < kSupplySeeds; ++seed) {
    Market market(seed, seed % 2 == 0 ? 0 : 25);
    market.supply.choose_gpus(kEveryGpu);
    std::vector<double> slope;
    const double most = market.value(market.prices, slope);
    for (int turn = 0; turn < 15; ++turn) {
      SCOPED_TRACE(fmt::format("seed {}, turn {}", seed, turn));
      const auto schedule = testing::any_schedule(market.problem, market.rng);
      if (!schedule) continue;
      ++judged;
      const FleetState state = state_of(market.terms, *schedule);
      const double earned = testing::at_prices(market.prices, testing::supplied(market.frame, state));
      EXPECT_LE(earned, most + 1e-6 * (1 + std::abs(most)));
      if (most > 0) best_share = std::max(best_share, earned / most);
    }
  }
  EXPECT_GT(judged, static_cast<int>(kSupplySeeds) * 8);
  EXPECT_GT(best_share, 0.6);
}

/// Lets all GPUs change at once: a piece that stays beyond a grid point is counted only up to that point.
void let_all_change_at_once(Problem& problem) {
  problem.is_frozen.clear();
  for (GpuTerms& gpu : problem.gpus) {
    gpu.free_from = SlotIndex(0);
    for (StandingPiece& standing : gpu.standing) standing.ready_in = 0;
  }
}

/// At the prices, the worth of the GPUs' supply is their income; as a slope, it is valid at all other prices.
TEST(FleetSupply, WhatIsSuppliedIsTheSlopeOfWhatIsEarned) {
  for (std::uint64_t seed = 0; seed < kSupplySeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = supply_problem(seed, seed % 2 == 0 ? 0 : 25);
    let_all_change_at_once(problem);
    Market market(std::move(problem), seed);
    market.supply.choose_gpus(kEveryGpu);
    std::vector<double> slope;
    const double earned = market.value(market.prices, slope);
    EXPECT_NEAR(testing::at_prices(market.prices, slope), earned, 1e-3 * (1 + earned));
    for (int turn = 0; turn < 5; ++turn) {
      const std::vector<double> others = market.draw();
      std::vector<double> unused;
      const double there = market.value(others, unused);
      EXPECT_GE(there, testing::at_prices(others, slope) - 1e-3 * (1 + earned + there));
    }
  }
}

TEST(FleetSupply, FewGpusStandForAllThatAreLikeThem) {
  Problem problem = testing::quarters_problem(2, 12);
  problem.models.push_back(problem.models[0]);
  for (std::vector<Rates>& kind : problem.models[1].rates) {
    for (Rates& rates : kind) rates.requests_per_second[0] *= 3;
  }
  problem.gpus.resize(30);
  for (std::size_t gpu = 20; gpu < 30; ++gpu) problem.gpus[gpu].model = ModelIndex(1);
  const Terms terms(problem);
  const PriceFrame frame(terms, {SlotIndex(0), SlotIndex(5)});
  Supply supply(frame);
  const std::vector<double> prices(frame.prices, 0.5);
  const auto value = [&](int most) {
    std::vector<double> slope(frame.prices, 0);
    supply.choose_gpus(most);
    const std::int64_t before = supply.nodes();
    const double sum = supply.value(prices, 0.01, slope);
    slope.push_back(sum);
    slope.push_back(static_cast<double>(supply.nodes() - before));
    return slope;
  };
  const std::vector<double> all = value(kEveryGpu);
  const std::vector<double> few = value(3);
  EXPECT_EQ(all.back(), 30);
  EXPECT_EQ(few.back(), 3);
  for (std::size_t k = 0; k + 1 < all.size(); ++k) EXPECT_NEAR(few[k], all[k], 1e-6 * (1 + std::abs(all[k])));
}

/// A request of a variant pays for its own rung and those after it; in the tail, for the tail's whole length.
TEST(FleetSupply, CapsAreThePricesOfEachSlot) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Market market(seed, 40);
    market.supply.fill(market.prices);
    const PriceCaps caps = market.supply.caps();
    for (const ServiceIndex service : indices_of<ServiceIndex>(market.problem.services)) {
      const ServiceTerms& its = market.problem.services[idx(service)];
      const std::vector<int>& order = market.terms.fresh[idx(service)].order;
      const PricePlaces& places = market.frame.places[idx(service)];
      for (const SlotIndex slot : Indices<SlotIndex>(market.problem.slots + 1)) {
        const bool is_tail = slot == market.terms.slots;
        const std::size_t block = idx(market.frame.block_of(slot));
        double price = 0;
        for (std::size_t w = order.size(); w-- > 0;) {
          price += market.prices[places.capacity + w * idx(market.frame.blocks()) + block];
          EXPECT_NEAR(caps.serving[idx(service)][idx(order[w])][idx(slot)],
                      price * (is_tail ? market.problem.tail_seconds : 1), 1e-9 * (1 + price));
        }
        if (its.floor_rate <= 0) continue;
        const bool binds = !is_tail && slot >= market.problem.floors_from;
        EXPECT_NEAR(caps.floor[idx(service)][idx(slot)], binds ? market.prices[places.floor + block] : 0, 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace berth::planner::fleet
