#include "planner/many_gpus/detail/price_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

Problem framed_problem(std::uint64_t seed) {
  testing::Shape shape{.gpus = {"A30-24GB"}};
  shape.services = 5;
  shape.slots = 30;
  shape.variants_percent = 60;
  shape.rules_percent = 30;
  shape.oddities_percent = 40;
  return testing::ProblemGenerator(shape, Rng(seed)).draw();
}

const std::vector<SlotIndex>& starts() {
  static const std::vector<SlotIndex> slots = {SlotIndex(0), SlotIndex(7), SlotIndex(19)};
  return slots;
}

TEST(FleetPriceFrame, EachSlotIsInTheRangeThatBeganLast) {
  const Problem problem = framed_problem(1);
  const Terms terms(problem);
  const PriceFrame frame(terms, starts());
  ASSERT_EQ(frame.blocks(), 4);
  EXPECT_EQ(frame.length, (std::vector<double>{7, 12, 11, problem.tail_seconds}));
  std::vector<double> seconds(4, 0);
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
    const int expected = slot < 7 ? 0 : slot < 19 ? 1 : slot < 30 ? 2 : 3;
    EXPECT_EQ(frame.block_of(slot), expected);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(frame.seconds_before[idx(slot) * 4 + k], seconds[k]);
    seconds[idx(expected)] += slot < 30 ? 1 : problem.tail_seconds;
  }
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(frame.seconds_before[std::size_t{31} * 4 + k], seconds[k]);
}

TEST(FleetPriceFrame, EveryPriceHasOnePlace) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = framed_problem(seed);
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    const auto blocks = static_cast<std::size_t>(frame.blocks());
    std::multiset<std::size_t> taken;
    const auto take = [&](std::size_t first, std::size_t count) {
      for (std::size_t k = 0; k < count; ++k) taken.insert(first + k);
    };
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const ServiceTerms& its = problem.services[idx(service)];
      const PricePlaces& places = frame.places[idx(service)];
      take(places.capacity, its.variants.size() * blocks);
      if (its.floor_rate > 0) take(places.floor, blocks);
      if (its.retraining) take(places.progress, blocks);
      if (its.changes_max >= 0) take(places.change, 1);
    }
    ASSERT_EQ(taken.size(), frame.prices);
    for (std::size_t k = 0; k < frame.prices; ++k) EXPECT_EQ(taken.count(k), 1U);
  }
}

/// In the order of the fresh model, the total worth of the rungs up to a variant is at least its own accuracy.
TEST(FleetPriceFrame, RungsOfAStaleModelAreWorthAtLeastItsAccuracies) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = framed_problem(seed);
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const ServiceTerms& its = problem.services[idx(service)];
      const std::vector<int>& order = terms.fresh[idx(service)].order;
      double stale = 0;
      double fresh = 0;
      for (RungIndex w = RungIndex(order.size()) - 1; w >= 0; --w) {
        EXPECT_GE(frame.step_of(service, w, false), 0);
        stale += frame.step_of(service, w, false);
        fresh += frame.step_of(service, w, true);
        const VariantTerms& variant = its.variants[idx(order[idx(w)])];
        EXPECT_GE(stale, its.value * variant.accuracy_before * (1 - 1e-9));
        EXPECT_NEAR(fresh, its.value * variant.accuracy_after, 1e-9 * its.value);
      }
      const double tail = problem.tail_seconds;
      const double fresh_seconds = its.retraining ? std::min(tail, its.retraining->tail_fresh_seconds) : tail;
      const RungIndex first(0);
      EXPECT_NEAR(frame.step_in_tail(service, first, false), tail * frame.step_of(service, first, false), 1e-9);
      EXPECT_NEAR(frame.step_in_tail(service, first, true),
                  fresh_seconds * frame.step_of(service, first, true) +
                      (tail - fresh_seconds) * frame.step_of(service, first, false),
                  1e-9);
    }
  }
}

TEST(FleetPriceFrame, GpusMayChangeSoThatPiecesAreReadyWherePricesChange) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = framed_problem(seed);
    const Terms terms(problem);
    const PriceFrame frame(terms, starts());
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const Readiness& counted = frame.serving[idx(service)];
      EXPECT_LE(counted.on_same_site, terms.serving[idx(service)].on_same_site);
      EXPECT_LE(counted.on_new_site, terms.serving[idx(service)].on_new_site);
      for (const SlotIndex start : starts()) {
        for (const int delay : {counted.on_same_site, counted.on_new_site}) {
          if (start < delay || !terms.may_change_at(start - delay)) continue;
          EXPECT_NE(std::ranges::find(frame.grid.points, start - delay), frame.grid.points.end());
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::planner::fleet
