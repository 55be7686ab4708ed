// The parts that Berth's policy learns with.
#include <gtest/gtest.h>

#include <vector>

#include "purchase/scale/detail/error_law.h"
#include "purchase/scale/detail/predictor.h"
#include "purchase/scale/detail/recent_sums.h"
#include "purchase/scale/detail/season.h"
#include "purchase/scale/detail/shadow.h"

namespace berth::scale::detail {
namespace {

TEST(RecentSums, KnowWhatWasObserved) {
  RecentSums sums(-3);
  for (const int requests : {5, 0, 7, 8}) sums.observe(requests);
  EXPECT_EQ(sums.next(), 1);
  EXPECT_EQ(sums.sum(-2, 1), 15);
  EXPECT_EQ(sums.sum(-100, 0), 12);  // nothing is known before -3
  EXPECT_EQ(sums.sum(0, 0), 0);
  EXPECT_DOUBLE_EQ(sums.mean(-100, 1), 5);
  EXPECT_DOUBLE_EQ(sums.mean(-100, -50), 0);
}

TEST(RecentSums, ForgetWhatIsLongAgo) {
  RecentSums sums(0);
  for (std::int64_t second = 0; second < 3 * kMemorySeconds; ++second) sums.observe(second % 2);
  EXPECT_EQ(sums.sum(sums.next() - 86'400, sums.next()), 43'200);
}

TEST(ErrorLaw, HasTheQuantilesOfItsSamples) {
  ErrorLaw law;
  for (int k = 0; k < 1'000; ++k) law.observe(k / 100.0);
  const MarginValues values = law.quantiles(1, law);
  for (std::size_t j = 0; j < kMarginCount; ++j) {
    EXPECT_NEAR(values[j], kMarginLevels[j] * 10, 0.1 + values[j] * 0.03) << kMarginLevels[j];
  }
}

TEST(ErrorLaw, MixesTwoLaws) {
  ErrorLaw low;
  ErrorLaw high;
  low.observe(0.01);
  for (int k = 0; k < 50; ++k) high.observe(20.1);
  const MarginValues values = low.quantiles(0.5, high);
  EXPECT_LT(values[1], 0.2);   // 0.3
  EXPECT_GT(values[2], 19.0);  // 0.6
}

TEST(ErrorLaw, KnowsHowFarErrorsExceedAQuantile) {
  const ErrorLaw law = ErrorLaw::normal(1'000, 1);
  const MarginValues excess = law.shortfalls(law.quantiles(1, law));
  EXPECT_NEAR(excess[4], 0.047, 0.01);  // of a normal law above its quantile of 0.9
  for (std::size_t j = 1; j < kMarginCount; ++j) EXPECT_LT(excess[j], excess[j - 1]);
}

TEST(Season, LearnsTheShareOfEachPart) {
  RecentSums sums(0);
  Season season({.period = 100, .part = 10});
  EXPECT_DOUBLE_EQ(season.factor(5), 1);
  for (std::int64_t second = 0; second < 2'000; ++second) {
    sums.observe(second % 100 < 10 ? 55 : 5);
    season.observe(sums);
  }
  EXPECT_NEAR(season.factor(2'003), 5.5, 1e-9);
  EXPECT_NEAR(season.factor(2'033), 0.5, 1e-9);
  EXPECT_NEAR(season.factor(-97), 5.5, 1e-9);
  EXPECT_NEAR(season.mean_factor(2'000, 2'020), 3, 1e-9);
  EXPECT_DOUBLE_EQ(season.mean_factor(0, 100), 1);
}

TEST(Predictor, PredictsTheLevelWithMarginsFromItsErrors) {
  RecentSums sums(0);
  Predictor predictor({.level_seconds = 30, .season = {}}, 10, 3);
  Demand demand;
  for (std::int64_t second = 0; second < 20'000; ++second) {
    sums.observe(second % 3 == 0 ? 120 : 0);
    demand = predictor.step(sums);
  }
  // The mean over the 3 seconds that a request may wait is always the same.
  EXPECT_NEAR(demand.mean, 40, 1);
  EXPECT_NEAR(demand.at_margin[kMarginCount - 1], 40, 8);
}

TEST(Predictor, SeesASeasonAhead) {
  RecentSums sums(0);
  Predictor predictor({.level_seconds = 60, .season = SeasonShape{.period = 600, .part = 20}}, 60, 1);
  Demand demand;
  for (std::int64_t second = 0; second < 6'540; ++second) {
    sums.observe(second % 600 < 60 ? 100 : 10);
    demand = predictor.step(sums);
  }
  EXPECT_NEAR(demand.mean, 100, 1);  // of second 6,600, after a minute of 10
}

TEST(Predictor, FloorsAreMultiplesOfTheUsualLoad) {
  RecentSums sums(0);
  Predictor predictor({.level_seconds = 15, .season = {}, .floor_seconds = 1'800}, 60, 1);
  Demand demand;
  const auto observe = [&](std::int64_t seconds, std::int64_t requests) {
    for (std::int64_t second = 0; second < seconds; ++second) {
      sums.observe(requests);
      demand = predictor.step(sums);
    }
  };
  observe(3'600, 1'000);
  EXPECT_NEAR(demand.at_margin[0], 1'000, 60) << "no less than the level and its noise";
  EXPECT_DOUBLE_EQ(demand.at_margin[2], 1'250);
  EXPECT_DOUBLE_EQ(demand.at_margin[kMarginCount - 1], 3'000);
  observe(60, 2'000);
  EXPECT_NEAR(demand.at_margin[2], 2'000, 120) << "above the floor the load is followed";
  EXPECT_NEAR(demand.at_margin[kMarginCount - 1], 3'100, 20) << "the usual load is hardly higher";
}

TEST(Predictor, SaysWhichShareOfItsErrorsIsCovered) {
  RecentSums sums(0);
  Predictor predictor({.level_seconds = 30, .season = {}}, 10, 1);
  for (std::int64_t second = 0; second < 20'000; ++second) {
    sums.observe(second % 100 < 5 ? 200 : 100);
    static_cast<void>(predictor.step(sums));
  }
  EXPECT_LT(predictor.covered(50, 100), 0.1);
  EXPECT_GT(predictor.covered(130, 100), 0.8);
  EXPECT_LT(predictor.covered(130, 100), 0.97);
  EXPECT_GT(predictor.covered(250, 100), 0.99);
}

TEST(HeldNeed, IsTheLargestOfTheLastSeconds) {
  HeldNeed held(3);
  EXPECT_EQ(held.add(0, 5), 5);
  EXPECT_EQ(held.add(1, 2), 5);
  EXPECT_EQ(held.add(2, 3), 5);
  EXPECT_EQ(held.add(3, 1), 3);
  EXPECT_EQ(held.add(4, 0), 3);
  EXPECT_EQ(held.add(5, 0), 1);
}

TEST(Shadow, CountsWhatHappensToItsOwnReplicas) {
  const std::vector<std::uint32_t> counts = {4, 4, 4, 4};
  const Problem problem{.load = {.counts = counts, .from_second = 0},
                        .rate = *ReplicaRate::of(Decimal(1)),
                        .wait_seconds = 0,
                        .start_seconds = 1,
                        .attainment = Decimal(1)};
  Shadow shadow(problem, 0, 2);
  shadow.step(0, 4);
  shadow.step(1, 4);
  shadow.account(0.5, false);
  EXPECT_DOUBLE_EQ(shadow.cost(), 0);
  shadow.step(2, 3);
  shadow.step(3, 3);
  shadow.account(0.5, true);
  EXPECT_DOUBLE_EQ(shadow.cost(), 7);  // the need of 1 holds for a start
  EXPECT_DOUBLE_EQ(shadow.requests(), 8);
  shadow.account(0.5, true);
  EXPECT_DOUBLE_EQ(shadow.cost(), 3.5);
}

}  // namespace
}  // namespace berth::scale::detail
