#include "planner/many_gpus/detail/rents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/many_gpus/detail/supply.h"
#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

/// GPUs that serve 40 requests per second each, for any service; changes take no time.
Problem market(int gpus, const std::vector<double>& loads, const std::vector<double>& values) {
  Problem problem = testing::quarters_problem(static_cast<int>(loads.size()), 8);
  problem.create_seconds = problem.destroy_seconds = 0;
  problem.tail_seconds = 4;
  problem.gpus.resize(static_cast<std::size_t>(gpus));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    problem.services[i].loads.assign(9, loads[i]);
    problem.services[i].value = values[i];
    problem.services[i].start_seconds = 0;
  }
  return problem;
}

/// The prices of capacity, [service][block]: of one variant each.
std::vector<std::vector<double>> rents_of(const Problem& problem) {
  const Terms terms(problem);
  const PriceFrame frame(terms, {SlotIndex(0), SlotIndex(3)});
  const Demand demand(frame);
  std::vector<double> prices(frame.prices, 0);
  PriceRents(frame, demand).set_prices(prices);
  std::vector<std::vector<double>> by_service;
  for (const PricePlaces& places : frame.places) {
    by_service.emplace_back(prices.begin() + static_cast<std::ptrdiff_t>(places.capacity),
                            prices.begin() + static_cast<std::ptrdiff_t>(places.capacity) + frame.blocks());
  }
  return by_service;
}

void expect_price(const std::vector<double>& of_blocks, double price) {
  for (const double each : of_blocks) EXPECT_NEAR(each, price, 1e-3 * (1 + price));
}

TEST(FleetRents, WhereThereIsRoomForAllCapacityCostsNothing) {
  for (const std::vector<double>& of_blocks : rents_of(market(2, {30, 30}, {1, 2}))) expect_price(of_blocks, 0);
}

/// 40 of 60 requests can be served: the last one served belongs to the service that pays less.
TEST(FleetRents, WhereCapacityIsShortAllPayWhatTheLastOneServedIsWorth) {
  const auto prices = rents_of(market(1, {30, 30}, {1, 2}));
  expect_price(prices[0], 1);
  expect_price(prices[1], 1);
}

TEST(FleetRents, WhoPaysMostTakesAllWhereHeWantsAll) {
  const auto prices = rents_of(market(1, {30, 60}, {1, 2}));
  expect_price(prices[0], 1);  // no more than its worth
  expect_price(prices[1], 2);
}

/// A whole GPU that serves three times as much of one service earns the same with either.
TEST(FleetRents, AGpuEarnsTheSameWithEachServiceThatItServes) {
  Problem problem = market(4, {100, 150}, {1, 1});
  for (std::vector<Rates>& kind : problem.models[0].rates) kind[1].requests_per_second[0] *= 3;
  const auto prices = rents_of(problem);
  for (std::size_t block = 0; block < prices[0].size(); ++block) {
    EXPECT_GT(prices[1][block], 0);
    EXPECT_NEAR(prices[0][block] * 40, prices[1][block] * 120, 0.5);
  }
}

TEST(FleetRents, PricesOfRandomFleetsAreWithinTheirLimitsAndGiveABound) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 20, 0);
    const Terms terms(problem);
    const PriceFrame frame(terms, {SlotIndex(0), SlotIndex(10)});
    Demand demand(frame);
    Supply supply(frame);
    std::vector<double> prices(frame.prices, -1);
    std::vector<double> floors(frame.prices, 0);
    PriceRents(frame, demand).set_prices(prices);
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const PricePlaces& places = frame.places[idx(service)];
      for (std::size_t k = places.capacity; k < places.floor; ++k) {
        if (frame.length[(k - places.capacity) % idx(frame.blocks())] <= 0) continue;
        EXPECT_GE(prices[k], 0);
        EXPECT_LE(prices[k], demand.price_max()[k]);
      }
    }
    for (double& price : prices) price = std::max(price, 0.0);
    supply.choose_gpus(100);
    const double bound = demand.value(prices, floors) + supply.value(prices, 0.01, floors);
    Rng rng = Rng(seed).split("schedule");
    if (const auto schedule = testing::any_schedule(problem, rng)) {
      EXPECT_GE(bound, state_of(terms, *schedule).objective());
    }
    EXPECT_LE(bound, 1.5 * terms.value_max);
  }
}

}  // namespace
}  // namespace berth::planner::fleet
