#include "planner/many_gpus/detail/balance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace berth::planner::fleet {
namespace {

const std::vector<DemandLevel>& stairs() {
  static const std::vector<DemandLevel> levels = {{.price = 4, .quantity = 10}, {.price = 2, .quantity = 10}};
  return levels;
}

TEST(FleetBalance, MoreExpensiveWhereSupplyIsShortAndCheaperWhereThereIsTooMuch) {
  BalanceBlock scarce{.demand = &stairs(), .supply = 5, .price = 3};
  balance(scarce, 0, 0, 0.1);
  EXPECT_GT(scarce.price, 3);
  BalanceBlock plenty{.demand = &stairs(), .supply = 40, .price = 3};
  balance(plenty, 0, 0, 0.1);
  EXPECT_LT(plenty.price, 3);
}

TEST(FleetBalance, APriceAtWhichSupplyIsWantedStays) {
  BalanceBlock at_edge{.demand = &stairs(), .supply = 10, .price = 3};  // between 2 and 4 the demand is exactly 10
  balance(at_edge, 0, 0, 0.1);
  EXPECT_NEAR(at_edge.price, 3, 1e-6);
  BalanceBlock on_stair{.demand = &stairs(), .supply = 15, .price = 2};
  balance(on_stair, 0, 0, 0.1);
  EXPECT_NEAR(on_stair.price, 2, 1e-6);
}

TEST(FleetBalance, AFloorThatIsShortIsPaidInAdditionToTheCapacity) {
  BalanceBlock block{.demand = &stairs(), .supply = 20, .price = 1, .floor_need = 40, .floor_supply = 20};
  balance(block, 0, 0, 0.1);
  EXPECT_GT(block.floor_price, 0);
  EXPECT_GT(block.price + block.floor_price, 1);
  BalanceBlock met{.demand = &stairs(), .supply = 15, .price = 2, .floor_need = 10, .floor_supply = 15};
  balance(met, 0, 0, 0.1);
  EXPECT_EQ(met.floor_price, 0);
}

TEST(FleetBalance, GrowthIsALogarithmWithinLimits) {
  EXPECT_DOUBLE_EQ(balanced_growth(2, 3), std::log(1.5));
  EXPECT_EQ(balanced_growth(0, 0), 0);
  EXPECT_LT(balanced_growth(1, 0), 0);
  EXPECT_GT(balanced_growth(0, 1), 0);
  EXPECT_EQ(balanced_growth(0, 1), balanced_growth(1, 1e9));
}

}  // namespace
}  // namespace berth::planner::fleet
