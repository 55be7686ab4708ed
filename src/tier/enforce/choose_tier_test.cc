#include "tier/enforce/choose_tier.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::tier {
namespace {

/// A model of ten GPUs whose only slice is the whole GPU.
TierOffer measured(const std::string& gpu, double per_second, double usd_per_hour) {
  TierOffer tier{
      .gpu = gpu, .gpus = 10, .has_rows = true, .is_predicted = false, .levels = {{.sure = 1, .offers = {}}}};
  if (per_second > 0) tier.levels[0].offers = {{.per_second = per_second, .usd_per_hour = usd_per_hour}};
  return tier;
}

/// The same as a prediction, which keeps the target with probability `sure`.
TierOffer predicted(const std::string& gpu, double per_second, double usd_per_hour, double sure) {
  TierOffer tier = measured(gpu, per_second, usd_per_hour);
  tier.is_predicted = true;
  const std::vector<SliceOffer> offers = tier.levels[0].offers;
  tier.levels.clear();
  for (const double level : {0.95, 0.9, 0.8, 0.5}) {
    tier.levels.push_back({.sure = level, .offers = level <= sure ? offers : std::vector<SliceOffer>()});
  }
  return tier;
}

class ChooseTier : public ::testing::Test {
 protected:
  std::optional<TierChoice> ask(double second, bool is_short = false) {
    const TierQuestion question{.tiers = tiers,
                                .rates = rates,
                                .sure = 0.9,
                                .now = Instant() + Micros(static_cast<std::int64_t>(second * 1e6)),
                                .is_short = is_short};
    return choose_tier(question, memory);
  }

  std::vector<TierOffer> tiers;
  std::vector<double> rates = {10};
  TierMemory memory;
};

TEST_F(ChooseTier, TakesTheCheapestThatKeepsTheTargetSurelyEnough) {
  tiers = {predicted("risky", 100, 1, 0.8), predicted("sure", 100, 2, 0.9), measured("known", 100, 3)};
  const auto choice = ask(0);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gpu, "sure");
  EXPECT_TRUE(choice->is_predicted);
  EXPECT_DOUBLE_EQ(choice->probability, 0.9);
  EXPECT_DOUBLE_EQ(choice->usd_per_hour, 2);
  ASSERT_EQ(choice->rejected.size(), 2U);
  EXPECT_EQ(choice->rejected[0].gpu, "risky");
  EXPECT_NE(choice->rejected[0].why.find("probability 0.8"), std::string::npos) << choice->rejected[0].why;
  EXPECT_NE(choice->rejected[1].why.find("3 USD per hour, against 2"), std::string::npos) << choice->rejected[1].why;
  EXPECT_FALSE(ask(60));
}

TEST_F(ChooseTier, NeverTakesAModelWithoutRows) {
  tiers = {{.gpu = "unknown", .gpus = 10, .has_rows = false, .is_predicted = true, .levels = {}}};
  EXPECT_FALSE(ask(0));
  tiers.push_back(measured("slow", 0, 1));
  const auto choice = ask(60);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gpu, "slow");
  EXPECT_EQ(choice->rejected[0].why, "the service's profile has no row for it");
}

TEST_F(ChooseTier, TakesTheLikeliestIfNoneIsSureEnough) {
  tiers = {predicted("a", 100, 1, 0.5), predicted("b", 100, 9, 0.8), measured("c", 0, 1)};
  const auto choice = ask(0);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gpu, "b");
}

TEST_F(ChooseTier, LeavesAModelThatWasMeasuredToMissAtOnce) {
  tiers = {predicted("a", 100, 1, 0.9), measured("b", 100, 5)};
  ASSERT_EQ(ask(0)->gpu, "a");
  tiers[0] = measured("a", 0, 1);
  const auto choice = ask(7);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gpu, "b");
  EXPECT_NE(choice->reason.find("measured"), std::string::npos);
}

TEST_F(ChooseTier, MovesToSaveTenPercentAfterThirtyMinutesAndHourly) {
  tiers = {measured("a", 100, 10), measured("b", 100, 20)};
  ASSERT_EQ(ask(0)->gpu, "a");
  tiers[1] = measured("b", 100, 9.01);
  EXPECT_FALSE(ask(1800));  // less than 10 %
  tiers[1] = measured("b", 100, 9);
  EXPECT_FALSE(ask(1799));
  ASSERT_TRUE(ask(1800));
  EXPECT_EQ(memory.gpu, "b");
  tiers[0] = measured("a", 100, 5);
  EXPECT_FALSE(ask(5399));
  tiers[0] = measured("a", 100, 7.3);
  EXPECT_FALSE(ask(5400));  // the second move must save 20 %
  tiers[0] = measured("a", 100, 7.2);
  ASSERT_TRUE(ask(5400));
  EXPECT_EQ(memory.gpu, "a");
}

TEST_F(ChooseTier, LeavesAModelWithoutRoomAfterFiveMinutes) {
  tiers = {measured("a", 100, 1), measured("b", 100, 2), measured("c", 100, 3)};
  ASSERT_EQ(ask(0)->gpu, "a");
  EXPECT_FALSE(ask(60, true));
  EXPECT_FALSE(ask(120, false));  // it had room for a moment
  EXPECT_FALSE(ask(180, true));
  EXPECT_FALSE(ask(479, true));
  const auto choice = ask(480, true);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gpu, "b");
  EXPECT_NE(choice->reason.find("no room"), std::string::npos);
  // It does not come back to save money within six hours.
  EXPECT_FALSE(ask(480 + 1800));
  EXPECT_FALSE(ask(480 + 6 * 3600 - 1));
  EXPECT_EQ(ask(480 + 6 * 3600)->gpu, "a");
}

TEST_F(ChooseTier, ComesBackForRoomAfterAnHour) {
  tiers = {measured("a", 100, 1), measured("b", 100, 2)};
  ASSERT_EQ(ask(0)->gpu, "a");
  EXPECT_FALSE(ask(60, true));
  ASSERT_EQ(ask(360, true)->gpu, "b");
  EXPECT_FALSE(ask(420, true));
  EXPECT_FALSE(ask(720, true)) << "a had no room";
  EXPECT_EQ(ask(360 + 3600, true)->gpu, "a");
}

TEST_F(ChooseTier, MovesToSaveAtMostTwiceInSixHours) {
  tiers = {measured("a", 100, 10), measured("b", 100, 20)};
  ASSERT_EQ(ask(0)->gpu, "a");
  tiers[1] = measured("b", 100, 8);
  ASSERT_EQ(ask(1800)->gpu, "b");
  tiers[0] = measured("a", 100, 4);
  ASSERT_EQ(ask(5400)->gpu, "a");
  tiers[1] = measured("b", 100, 0.1);
  EXPECT_FALSE(ask(9000));
  EXPECT_FALSE(ask(1800 + 6 * 3600 - 1));
  EXPECT_EQ(ask(1800 + 6 * 3600)->gpu, "b");
}

/// Sure to carry the rate; its price depends on how fast it turns out to be.
TierOffer uncertain(const std::string& gpu, double usd_if_slow, double usd_at_median, double usd_if_fast) {
  TierOffer tier = measured(gpu, 100, usd_if_slow);
  tier.is_predicted = true;
  tier.levels = {{.sure = 0.9, .offers = {{.per_second = 100, .usd_per_hour = usd_if_slow}}},
                 {.sure = 0.5, .offers = {{.per_second = 100, .usd_per_hour = usd_at_median}}},
                 {.sure = 0.1, .offers = {{.per_second = 100, .usd_per_hour = usd_if_fast}}}};
  return tier;
}

TEST_F(ChooseTier, TriesAModelThatMayBeMuchCheaperAndCanBeLeftAgain) {
  tiers = {measured("known", 100, 1), uncertain("unknown", 1.12, 1.06, 0.5)};
  const auto choice = ask(0);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->gpu, "unknown");
  EXPECT_NEAR(choice->usd_per_hour, 0.3 * (1 + 0.12 / 6) + 0.4 * (1 + 0.06 / 6) + 0.3 * 0.5, 1e-12);
  tiers[1] = measured("unknown", 100, 1.12);
  EXPECT_FALSE(ask(1799));
  EXPECT_EQ(ask(1800)->gpu, "known");
  tiers.push_back(uncertain("hardly cheaper", 1.5, 1, 0.9));
  EXPECT_FALSE(ask(9000));
}

TEST_F(ChooseTier, MustSaveMoreAfterItLeftAModelForWantOfRoom) {
  tiers = {measured("a", 100, 1), measured("b", 100, 2), measured("c", 100, 3)};
  ASSERT_EQ(ask(0)->gpu, "a");
  EXPECT_FALSE(ask(60, true));
  ASSERT_EQ(ask(360, true)->gpu, "b");
  tiers[0] = measured("a", 100, 5);
  tiers[2] = measured("c", 100, 1.7);
  EXPECT_FALSE(ask(4000)) << "15 % of 20 %";
  tiers[2] = measured("c", 100, 1.6);
  EXPECT_EQ(ask(4060)->gpu, "c");
}

TEST_F(ChooseTier, CountsTheRateThatAllGpusCarry) {
  tiers = {measured("few", 100, 1), measured("many", 100, 2)};
  tiers[0].gpus = 1;
  rates = {10, 101};
  EXPECT_EQ(ask(0)->gpu, "many");
}

}  // namespace
}  // namespace berth::tier
