/// The public benchmark: the published policies to ten digits, and ours on a part of it.
#include "purchase/spot/study.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "purchase/spot/windows.h"

namespace berth::purchase {
namespace {

class PublicWindows : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("BERTH_DATA");
    if (folder == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
    const std::string path = std::string(folder) + "/spot/cant_be_late_windows.jsonl";
    std::ifstream file(path);
    if (!file) GTEST_SKIP() << path << " is missing";
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto windows = read_windows(text, path);
    ASSERT_TRUE(windows.has_value()) << windows.error().message;
    study_.markets = *windows;
  }
  /// The mean of a run in dollars, times 10^10, rounded.
  std::int64_t mean_of(SpotPolicy policy) {
    const auto scores = run_spot_study(study_, std::vector{policy}, [](const SpotRun& /*run*/) { return true; });
    EXPECT_EQ(scores->front().totals.missed, 0);
    return (scores->front().totals.average_usd() * Decimal(10'000'000'000)).round_half_even();
  }

  SpotStudy study_{.markets = {},
                   .task_seconds = 48 * 3600,
                   .deadlines = {52 * 3600, 70 * 3600},
                   .restarts = {72, 180, 360},
                   .prices = {.on_demand_micro_usd = 3'060'000, .spot_micro_usd = 973'100}};
};

TEST_F(PublicWindows, GiveTheFiguresOfTheBenchmark) {
  EXPECT_EQ(study_.markets.size(), 180U);
  EXPECT_EQ(mean_of(SpotPolicy::kOnDemand), 1'473'900'000'000);
  EXPECT_EQ(mean_of(SpotPolicy::kGreedy), 1'190'345'387'654);
  EXPECT_EQ(mean_of(SpotPolicy::kUniformProgress), 1'016'391'901'389);
}

TEST_F(PublicWindows, OursIsBetweenTheBestRuleAndTheOptimum) {
  std::vector<Market> some;
  for (std::size_t i = 0; i < study_.markets.size(); i += 12) some.push_back(study_.markets[i]);
  study_.markets = some;
  study_.restarts = {180};
  const std::int64_t optimal = mean_of(SpotPolicy::kOptimal);
  const std::int64_t ours = mean_of(SpotPolicy::kBerth);
  const std::int64_t rule = mean_of(SpotPolicy::kUniformProgress);
  EXPECT_LT(optimal, ours);
  EXPECT_LT(ours - optimal, (rule - optimal) / 2);
}

TEST(SpotStudy, TheScoreIs100ForSpotAllTheTimeAndZeroOnDemand) {
  const SpotStudy study{.markets = {},
                        .task_seconds = 3600,
                        .deadlines = {7200},
                        .restarts = {0},
                        .prices = {.on_demand_micro_usd = 3'000'000, .spot_micro_usd = 1'000'000}};
  EXPECT_EQ(score_of({.runs = 2, .micro_usd = Decimal(6'000'000)}, study), Decimal(0));
  EXPECT_EQ(score_of({.runs = 2, .micro_usd = Decimal(2'000'000)}, study), Decimal(100));
  EXPECT_EQ(score_of({.runs = 2, .micro_usd = Decimal(4'000'000)}, study), Decimal(50));
}

}  // namespace
}  // namespace berth::purchase
