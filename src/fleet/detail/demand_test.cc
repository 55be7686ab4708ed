#include "fleet/detail/demand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/test_cases.h"
#include "fleet/testing/prices.h"
#include "fleet/testing/schedules.h"
#include "window/check.h"

namespace berth::planner::fleet {
namespace {

constexpr std::uint64_t kSeeds = berth::testing::by_build(40, 12);

Problem any_problem(std::uint64_t seed, int rules_percent) {
  testing::Shape shape{.gpus = {"A30-24GB", "A30-24GB"}};
  shape.services = 3;
  shape.slots = 10;
  shape.samples = 1 + static_cast<int>(seed % 3);
  shape.start_seconds_min = 0;
  shape.start_seconds_max = 3;
  shape.retraining_percent = 60;
  shape.rules_percent = rules_percent;
  shape.oddities_percent = 60;
  return testing::ProblemGenerator(shape, Rng(seed)).draw();
}

const std::vector<SlotIndex>& starts() {
  static const std::vector<SlotIndex> slots = {SlotIndex(0), SlotIndex(4)};
  return slots;
}

/// Whatever a schedule without faults is worth, services value it no higher than what they take at any prices, and
/// what its pieces cost at them.
TEST(FleetDemand, NoScheduleIsWorthMoreThanWhatServicesTakeAndItsPiecesCost) {
  int judged = 0;
  int tight = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = any_problem(seed, seed % 2 == 0 ? 0 : 20);
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    Demand demand(frame);
    Rng rng = Rng(seed).split("schedule");
    for (int turn = 0; turn < 10; ++turn) {
      SCOPED_TRACE(fmt::format("seed {}, turn {}", seed, turn));
      const auto schedule = testing::any_schedule(problem, rng);
      if (!schedule || find_fault(problem, *schedule)) continue;
      ++judged;
      const FleetState state = state_of(terms, *schedule);
      const double worth = state.objective();
      const std::vector<double> prices = testing::any_prices(demand.price_max(), demand.scales(), rng);
      std::vector<double> slope(frame.prices, 0);
      const double most = demand.value(prices, slope) + testing::at_prices(prices, testing::supplied(frame, state));
      EXPECT_GE(most, worth - 1e-6 * (1 + std::abs(worth)));
      tight += most < 2 * worth ? 1 : 0;
    }
  }
  EXPECT_GT(judged, static_cast<int>(kSeeds) * 3);
  EXPECT_GT(tight, judged / 10);
}

/// The value is convex in the prices, and what is said to be taken is its slope.
TEST(FleetDemand, WhatIsTakenIsTheSlopeOfTheValue) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = any_problem(seed, 20);
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    Demand demand(frame);
    Rng rng = Rng(seed).split("prices");
    const std::vector<double> prices = testing::any_prices(demand.price_max(), demand.scales(), rng);
    std::vector<double> slope(frame.prices, 0);
    const double value = demand.value(prices, slope);
    for (int turn = 0; turn < 10; ++turn) {
      const std::vector<double> others = testing::any_prices(demand.price_max(), demand.scales(), rng);
      double straight = value;
      for (std::size_t k = 0; k < prices.size(); ++k) straight += slope[k] * (others[k] - prices[k]);
      std::vector<double> unused(frame.prices, 0);
      EXPECT_GE(demand.value(others, unused), straight - 1e-6 * (1 + std::abs(value) + std::abs(straight)));
    }
  }
}

/// Of a service that is always fresh each rung takes, in each slot, the capacity that is worth most beyond its price.
TEST(FleetDemand, AnAlwaysFreshServiceTakesTheBestCapacityOfEachSlot) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = any_problem(seed, 0);
    for (ServiceTerms& service : problem.services) {
      service.retraining.reset();
      service.outside.clear();
      service.outside_progress.clear();
    }
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    Demand demand(frame);
    Rng rng = Rng(seed).split("prices");
    const std::vector<double> prices = testing::any_prices(demand.price_max(), demand.scales(), rng);
    double sum = 0;
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      for (const RungIndex w : indices_of<RungIndex>(terms.fresh[idx(service)].step)) {
        const double step = terms.fresh[idx(service)].step[idx(w)];
        for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
          const double price =
              prices[frame.places[idx(service)].capacity + idx(w) * idx(frame.blocks()) + idx(frame.block_of(slot))];
          double best = 0;  // concave and piecewise linear: best at a load, or at nothing
          for (int sample = 0; sample < problem.samples; ++sample) {
            const double load = problem.services[idx(service)].loads[idx(slot * problem.samples + sample)];
            best = std::max(best, step * terms.served(service, slot, load) - price * load);
          }
          sum += best * (slot == terms.slots ? problem.tail_seconds : 1);
          EXPECT_NEAR(demand.take(service, slot, step, price).worth, best, 1e-9 * (1 + best));
        }
      }
    }
    std::vector<double> slope(frame.prices, 0);
    EXPECT_NEAR(demand.value(prices, slope), sum, 1e-8 * (1 + sum));
  }
}

/// Levels say what would be taken at each price: those above it, together, are what is taken at it.
TEST(FleetDemand, LevelsAddUpToWhatIsTakenAtAPrice) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = any_problem(seed, 0);
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    Demand demand(frame);
    Rng rng = Rng(seed).split("prices");
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      if (problem.services[idx(service)].retraining) continue;
      demand.renew_levels(service);
      for (const RungIndex w : indices_of<RungIndex>(problem.services[idx(service)].variants)) {
        for (const BlockIndex block : Indices<BlockIndex>(frame.blocks())) {
          const double step = frame.step_of(service, w, true);
          const double price = step * rng.unit();
          double above = 0;
          double highest = 1e300;
          for (const DemandLevel& level : demand.levels(service, w, block)) {
            EXPECT_LE(level.price, highest);
            highest = level.price;
            if (level.price > price) above += level.quantity;
          }
          double taken = 0;
          double outside = 0;
          for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
            if (frame.block_of(slot) != block) continue;
            const double seconds = slot == terms.slots ? problem.tail_seconds : 1;
            taken += seconds * demand.take(service, slot, step, price).capacity;
            const ServiceTerms& its = problem.services[idx(service)];
            for (std::size_t rung = 0; rung <= idx(w) && !its.outside.empty(); ++rung) {
              const int variant = terms.fresh[idx(service)].order[rung];
              outside += seconds * its.outside[idx(slot) * its.variants.size() + idx(variant)];
            }
          }
          if (step <= 0) continue;
          ++compared;
          EXPECT_NEAR(above, taken, 1e-8 * (1 + taken));
          EXPECT_NEAR(demand.outside(service, w, block), outside, 1e-8 * (1 + outside));
        }
      }
    }
  }
  EXPECT_GT(compared, static_cast<int>(kSeeds) * 2);
}

}  // namespace
}  // namespace berth::planner::fleet
