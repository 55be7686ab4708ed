#include "planner/many_gpus/detail/demand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/prices.h"
#include "planner/many_gpus/testing/schedules.h"
#include "planner/window/check.h"

namespace berth::planner::fleet {
namespace {

constexpr std::uint64_t kDemandSeeds = berth::testing::by_build(40, 12);

Problem demand_problem(std::uint64_t seed, int rules_percent) {
  testing::Shape shape = testing::shape_of_market({"A30-24GB", "A30-24GB"}, rules_percent);
  shape.samples = 1 + static_cast<int>(seed % 3);
  return testing::ProblemGenerator(shape, Rng(seed)).draw();
}

/// At any prices, the worth of a schedule without faults is at most the services' net demand plus the cost of the
/// schedule's pieces.
TEST(FleetDemand, NoScheduleIsWorthMoreThanWhatServicesTakeAndItsPiecesCost) {
  int judged = 0;
  int tight = 0;
  for (std::uint64_t seed = 0; seed < kDemandSeeds; ++seed) {
    const Problem problem = demand_problem(seed, seed % 2 == 0 ? 0 : 20);
    const Terms terms(problem);
    const PriceFrame frame(terms, testing::starts_of_market());
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
  EXPECT_GT(judged, static_cast<int>(kDemandSeeds) * 3);
  EXPECT_GT(tight, judged / 10);
}

/// The value is convex in the prices, and the reported demand is its slope.
TEST(FleetDemand, WhatIsTakenIsTheSlopeOfTheValue) {
  for (std::uint64_t seed = 0; seed < kDemandSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = demand_problem(seed, 20);
    const Terms terms(problem);
    const PriceFrame frame(terms, testing::starts_of_market());
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
  for (std::uint64_t seed = 0; seed < kDemandSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = demand_problem(seed, 0);
    for (ServiceTerms& service : problem.services) {
      service.retraining.reset();
      service.outside.clear();
      service.outside_progress.clear();
    }
    const Terms terms(problem);
    const PriceFrame frame(terms, testing::starts_of_market());
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
          double best = 0;  // concave and piecewise linear: the optimum is at a load or at 0
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

/// A floor is taken at any price, minus the capacity elsewhere; a budget is paid for as a whole.
TEST(FleetDemand, FloorsAndBudgetsAreTakenAtTheirPrices) {
  Problem problem = testing::quarters_problem(1, 10);
  problem.floors_from = SlotIndex(3);
  problem.services[0].floor_rate = 15;
  problem.services[0].outside_floor_rate = 4;
  problem.services[0].changes_max = 6;
  const Terms terms(problem);
  const PriceFrame frame(terms, testing::starts_of_market());
  Demand demand(frame);
  const PricePlaces& places = frame.places[0];
  std::vector<double> prices(frame.prices, 0);
  std::vector<double> slope(frame.prices, 0);
  const double free = demand.value(prices, slope);
  EXPECT_NEAR(slope[places.floor], -(15 - 4), 1e-6);  // slot 3 alone is in the first range
  EXPECT_NEAR(slope[places.floor + 1], -6 * (15 - 4), 1e-6);
  EXPECT_EQ(slope[places.change], 6);
  prices[places.floor + 1] = 2;
  prices[places.change] = 0.5;
  EXPECT_NEAR(demand.value(prices, slope), free - 2 * 6 * (15 - 4) + 0.5 * 6, 1e-5);
}

/// One model that is stale at first and due no more: for each slot in which its retraining could be completed, and for
/// none, the cheapest progress and the worth of each slot are summed by hand.
TEST(FleetDemand, AStaleModelIsDoneWhenThatIsWorthMostBeyondItsProgress) {
  int done = 0;
  int partly = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Problem problem = testing::quarters_problem(1, 12);
    problem.tail_seconds = 6;
    ServiceTerms& service = problem.services[0];
    service.variants = {{.accuracy_before = 0.5, .accuracy_after = 0.9}};
    service.retraining = RetrainingTerms{.is_stale = true,
                                         .due_slots = {},
                                         .swap_slots = static_cast<int>(rng.below(4)),
                                         .tail_fresh_seconds = 4,
                                         .progress_value = 40 * rng.unit(),
                                         .fresh_value = 10 * rng.unit()};
    const RetrainingTerms& terms_of_model = *service.retraining;
    const Terms terms(problem);
    const PriceFrame frame(terms, testing::starts_of_market());
    Demand demand(frame);
    std::vector<double> prices(frame.prices, 0);
    for (double& price : prices) price = 0.8 * rng.unit();
    const PricePlaces& places = frame.places[0];
    for (std::size_t k = 0; k < 2; ++k) prices[places.progress + k] = 60 * rng.unit();
    const auto paid_in = [&](SlotIndex slot) { return prices[places.progress + idx(frame.block_of(slot))]; };
    const auto worth_in = [&](SlotIndex slot, bool is_fresh) {
      return 10 * std::max(0.0, (is_fresh ? 0.9 : 0.5) - prices[places.capacity + idx(frame.block_of(slot))]);
    };
    const double tail_price = 6 * prices[places.capacity + 2];
    const double tail_stale = 10 * std::max(0.0, 6 * 0.5 - tail_price);
    const double tail_fresh = 10 * std::max(0.0, 4 * 0.9 + 2 * 0.5 - tail_price) + terms_of_model.fresh_value;
    // At most half of the progress in each slot: the whole GPU takes two.
    const auto cheapest = [&](SlotIndex until, double price_max, double& bought) {
      std::vector<double> each;
      for (SlotIndex slot(0); slot < until; ++slot) each.push_back(paid_in(slot));
      std::ranges::sort(each);
      double paid = 0;
      for (const double price : each) {
        if (bought > 0.75 || price >= price_max) break;
        bought += 0.5;
        paid += 0.5 * price;
      }
      return paid;
    };
    double bought = 0;
    double best = -cheapest(terms.tail(), terms_of_model.progress_value, bought);
    best += tail_stale + terms_of_model.progress_value * bought;
    for (SlotIndex slot(0); slot < terms.slots; ++slot) best += worth_in(slot, false);
    bool is_done = false;
    for (SlotIndex at(2); at <= terms.slots; ++at) {
      double enough = 0;
      double worth = tail_fresh - cheapest(at, 1e300, enough);
      for (SlotIndex slot(0); slot < terms.slots; ++slot) {
        worth += worth_in(slot, slot >= at + terms_of_model.swap_slots);
      }
      is_done |= worth > best;
      best = std::max(best, worth);
    }
    std::vector<double> slope(frame.prices, 0);
    EXPECT_NEAR(demand.value(prices, slope), best, 1e-5);
    done += is_done ? 1 : 0;
    partly += !is_done && bought > 0 ? 1 : 0;
  }
  EXPECT_GT(done, 10);
  EXPECT_GT(partly, 3);
}

/// Levels state the demand at each price: the demand at a price is the sum of the levels above it.
TEST(FleetDemand, LevelsAddUpToWhatIsTakenAtAPrice) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kDemandSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = demand_problem(seed, 0);
    const Terms terms(problem);
    const PriceFrame frame(terms, testing::starts_of_market());
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
  EXPECT_GT(compared, static_cast<int>(kDemandSeeds) * 2);
}

}  // namespace
}  // namespace berth::planner::fleet
