#include "tier/enforce/tier_offer.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::tier {
namespace {

const SliceOffer kSmall{.per_second = 10, .usd_per_hour = 1, .per_gpu_max = 4};
const SliceOffer kLarge{.per_second = 50, .usd_per_hour = 4, .per_gpu_max = 1};

TEST(UsdPerHour, IsThatOfTheCheapestSlices) {
  const std::vector<SliceOffer> offers = {kSmall, kLarge};
  const std::vector<std::pair<double, double>> cases = {{0, 1}, {10, 1}, {11, 2}, {35, 4}, {50, 4}, {55, 5}, {75, 7}};
  for (const auto& [rate, usd] : cases) {
    ASSERT_TRUE(usd_per_hour_for(offers, 3, rate)) << rate;
    EXPECT_DOUBLE_EQ(*usd_per_hour_for(offers, 3, rate), usd) << rate;
  }
}

TEST(UsdPerHour, IsNothingWithoutRoomOrOffers) {
  const std::vector<SliceOffer> offers = {kSmall, kLarge};
  EXPECT_FALSE(usd_per_hour_for(offers, 1, 51));
  EXPECT_FALSE(usd_per_hour_for({}, 1, 0));
  const std::vector<double> rates = {1, 51};
  EXPECT_FALSE(mean_usd_per_hour(offers, 1, rates));
}

TEST(UsdPerHour, OfSeveralRatesIsTheirMean) {
  const std::vector<SliceOffer> offers = {kSmall};
  const std::vector<double> rates = {5, 15, 40};
  EXPECT_DOUBLE_EQ(*mean_usd_per_hour(offers, 1, rates), 7.0 / 3);
}

TEST(Probability, IsThatOfTheSurestLevelWhichCarriesTheRate) {
  const TierOffer tier{
      .gpu = "A",
      .gpus = 2,
      .has_rows = true,
      .is_predicted = true,
      .levels = {{.sure = 0.9, .offers = {}}, {.sure = 0.5, .offers = {kSmall}}, {.sure = 0.1, .offers = {kLarge}}}};
  EXPECT_DOUBLE_EQ(probability_of(tier, 80), 0.5);
  EXPECT_DOUBLE_EQ(probability_of(tier, 81), 0.1);
  EXPECT_DOUBLE_EQ(probability_of(tier, 101), 0);
  EXPECT_TRUE(tier.level_for(0.6).offers.empty());
  EXPECT_DOUBLE_EQ(tier.level_for(0.5).sure, 0.5);
}

}  // namespace
}  // namespace berth::tier
