#include "planner/goodput_bound/detail/descent.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/core/test_cases.h"
#include "planner/goodput_bound/testing/cases.h"
#include "planner/goodput_bound/testing/market.h"

namespace berth::bound::detail {
namespace {

using testing::draw_market;
using testing::kError;
using testing::Market;
using testing::Plans;

bool always(int) { return true; }

constexpr std::array kDescentSharing = {1.0, 1.43};

double least_of(const Market& market, int steps, std::span<const double> sharing_factors = {}) {
  std::vector<Demand> demands = market.demands();
  Dual dual(market.supply, demands, market.weights, market.blocks, sharing_factors);
  return *least_value(dual, steps, always);
}

/// At prices of 0 every request is answered by the most accurate variant: no search may end above that.
double value_at_no_price(const Market& market) {
  std::vector<Demand> demands = market.demands();
  Dual dual(market.supply, demands, market.weights, market.blocks, {});
  DualPoint slope = dual.origin();
  return dual.value(dual.origin(), slope);
}

TEST(Descent, EndsBetweenEveryPlanAndItsStart) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(100, 12))) {
    const Market market = draw_market(seed);
    const double start = value_at_no_price(market);
    EXPECT_EQ(least_of(market, 0), start) << "seed " << seed;
    const double best = Plans(market, {}).best(Rng(seed).split("plans"), 1000);
    for (const int steps : {1, 3, 60}) {
      const double least = least_of(market, steps);
      EXPECT_LE(least, start) << "seed " << seed;
      EXPECT_GE(least, best - kError) << "seed " << seed;
      EXPECT_EQ(least_of(market, steps), least) << "seed " << seed << ": the same twice";
    }
  }
}

TEST(Descent, NoPlanThatSharesIsAboveItsEnd) {
  // The prices of a descent are tight: if the bound for shared slices were too low, some plan would exceed it.
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 20))) {
    const Market market = draw_market(seed, {.retraining_percent = 10});
    const double best = Plans(market, kDescentSharing).best(Rng(seed).split("plans"), 1000);
    EXPECT_GE(least_of(market, 60, kDescentSharing), best - kError) << "seed " << seed;
  }
}

/// The most that one slice answers: requests in the order of their arrival, as early as possible.
double most_answers_of_market(const Market& market) {
  std::vector<double> left = market.supply.groups[0].kinds[0].yields[0].alone;
  for (double& amount : left) amount *= market.supply.groups[0].gpu_count;
  double sum = 0;
  for (const std::int64_t at : market.at_us[0]) {
    double open = 1;
    const int until = market.blocks.of(at + market.services[0].target.count() - 1);
    for (int block = market.blocks.of(at); block <= until; ++block) {
      double& amount = left[static_cast<std::size_t>(block)];
      const double part = std::min(open, amount);
      amount -= part;
      open -= part;
      sum += part;
    }
  }
  return sum;
}

TEST(Descent, ReachesTheOptimumOfOneGood) {
  // With equal targets, the order of arrival is that of deadlines: serving it greedily is optimal, and in a linear
  // problem the best prices are worth no more.
  const testing::MarketShape shape{.services_max = 1,
                                   .variants_max = 0,
                                   .slices_max = 1,
                                   .blocks_max = 6,
                                   .retraining_percent = 0,
                                   .dead_percent = 0};
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(150, 20))) {
    Market market = draw_market(seed, shape);
    GpuGroup& group = market.supply.groups[0];
    if (group.kinds[0].yields.empty()) continue;
    group.kinds.resize(1);
    group.sets = {{.counts = {{.kind = 0, .count = 1}}}};
    market.services[0].accuracy = {.before_micro = 800'000, .after_micro = 800'000};
    const double optimum = market.weights[0] * 0.8 * most_answers_of_market(market);
    const double least = least_of(market, 200);
    EXPECT_GE(least, optimum - kError) << "seed " << seed;
    EXPECT_LE(least, optimum * 1.01 + 0.01) << "seed " << seed;
  }
}

TEST(Descent, AsksBeforeEachStepAndStopsWhereItMust) {
  const Market market = draw_market(1);
  std::vector<Demand> demands = market.demands();
  Dual dual(market.supply, demands, market.weights, market.blocks, {});
  std::vector<int> asked;
  const auto until = [&](int end) {
    asked.clear();
    return least_value(dual, 5, [&, end](int step) {
      asked.push_back(step);
      return step < end;
    });
  };
  EXPECT_TRUE(until(std::numeric_limits<int>::max()));
  EXPECT_EQ(asked, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(until(2));
  EXPECT_EQ(asked, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace berth::bound::detail
