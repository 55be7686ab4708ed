#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/warm/gap_memory.h"
#include "serving/warm/gap_pool.h"
#include "serving/warm/predictor.h"
#include "serving/warm/worth.h"

namespace berth::warm {
namespace {

using testing::ElementsAre;

GapMemory memory_of(std::initializer_list<std::int64_t> gaps) {
  GapMemory memory;
  for (const std::int64_t gap : gaps) memory.add(gap);
  return memory;
}

TEST(GapMemory, AStrictPeriodHasNoSpread) {
  const GapMemory memory = memory_of({60, 60, 60});
  EXPECT_EQ(memory.at(59).ends_now, 0);
  EXPECT_EQ(memory.at(61).not_before, 0);
  EXPECT_EQ(memory.at(60).ends_now, memory.at(60).not_before);
  EXPECT_EQ(memory.at(60).ends_now, memory.at(1).not_before);
}

TEST(GapMemory, RecentGapsAreHeavier) {
  const GapMemory memory = memory_of({10, 200});
  const double recent = memory.at(50).not_before;
  EXPECT_GT(recent, memory.at(1).not_before - recent);
}

/// The weights of all minutes add up to the weight of the gaps, and those from a minute on to its `not_before`.
TEST(GapMemory, WeightsAddUp) {
  const GapMemory memory = memory_of({10, 17, 40, 12, 90, 31, 33});
  double from_here = 0;
  for (std::int64_t minute = 300; minute > 0; --minute) {
    const GapWeights weights = memory.at(minute);
    from_here += weights.ends_now;
    EXPECT_NEAR(weights.not_before, from_here, 1e-9) << minute;
  }
  EXPECT_GT(from_here, 6);
}

TEST(GapMemory, KeepsTheHeaviestGaps) {
  GapMemory memory;
  for (int i = 0; i < 20; ++i) memory.add(7);
  for (std::int64_t gap = 1000; gap < 1100; ++gap) memory.add(gap);
  EXPECT_GT(memory.at(7).ends_now, 0.1);
  EXPECT_EQ(memory.count(), 120);
}

TEST(GapMemory, SaysTheUsualGap) {
  EXPECT_EQ(GapMemory().usual(), std::nullopt);
  const auto usual = memory_of({60, 58, 300, 62, 60, 5, 59, 60, 61, 60, 60}).usual();
  EXPECT_EQ(usual, (UsualGap{.from = 58, .to = 62, .inside = 9, .of = 11}));
}

TEST(GapPool, ProbabilitiesAreProper) {
  GapPool pool;
  const OpenGap open{.minutes = 5, .gaps_before = 2, .minutes_last = 5};
  const double before = pool.probability(open);
  for (int i = 0; i < 100; ++i) pool.observe(open, true);
  EXPECT_GT(before, 0);
  EXPECT_GT(pool.probability(open), before);
  EXPECT_LT(pool.probability(open), 1);
  for (int i = 0; i < 1000; ++i) pool.observe(open, false);
  EXPECT_LT(pool.probability(open), 0.15);
  EXPECT_GT(pool.probability({.minutes = 1 << 30, .gaps_before = 9, .minutes_last = 1 << 20}), 0);
}

/// A key with a period of an hour among others: the minute of the next invocation stands out, and another key that has
/// none yet is predicted from the others.
TEST(Predictor, FindsAPeriod) {
  Predictor predictor(2);
  for (std::int64_t minute = 0; minute <= 240; ++minute) {
    std::vector<Invoked> invoked;
    if (minute % 60 == 0) invoked.push_back({.key = 0});
    predictor.finish_minute(minute, invoked);
  }
  EXPECT_EQ(predictor.probability(1), std::nullopt);
  EXPECT_GT(predictor.probability(0, 60).value(), 0.8);
  EXPECT_LT(predictor.probability(0, 59).value(), 0.02);
  EXPECT_LT(predictor.probability(0, 1).value(), 0.02);
}

TEST(Predictor, MinutesWithoutACallAreQuietOnes) {
  Predictor skipping(1);
  Predictor telling(1);
  const std::vector<Invoked> invoked = {{.key = 0}};
  for (Predictor* each : {&skipping, &telling}) each->finish_minute(3, invoked);
  for (std::int64_t minute = 4; minute < 50; ++minute) telling.finish_minute(minute, {});
  for (Predictor* each : {&skipping, &telling}) each->finish_minute(50, invoked);
  for (std::int64_t ahead = 1; ahead < 100; ++ahead) {
    EXPECT_EQ(skipping.probability(0, ahead), telling.probability(0, ahead));
  }
}

TEST(Predictor, SeveralMinutesTogether) {
  Predictor predictor(1);
  const std::vector<Invoked> invoked = {{.key = 0}};
  EXPECT_EQ(predictor.probability_within(0, 3), std::nullopt);
  for (const std::int64_t minute : {0, 20, 40, 60, 80}) predictor.finish_minute(minute, invoked);
  EXPECT_DOUBLE_EQ(predictor.probability_within(0, 1).value(), predictor.probability(0).value());
  EXPECT_LT(predictor.probability_within(0, 19).value(), 0.3);
  EXPECT_GT(predictor.probability_within(0, 20).value(), 0.8);
  predictor.finish_minute(95, {});
  EXPECT_GT(predictor.probability_within(0, 5).value(), 0.8);
  EXPECT_LT(predictor.probability_after(0, 100, 15), 0.3);
  EXPECT_GT(predictor.probability_after(0, 100, 20), 0.8);
}

TEST(Worth, ComparesAnIdleMinuteWithAColdStart) {
  EXPECT_TRUE(is_worth_loading(0.1, 9.1));
  EXPECT_FALSE(is_worth_loading(0.1, 8.9));
  EXPECT_FALSE(is_worth_loading(0, 1e9));
  EXPECT_GT(weight_of_app(2), weight_of_app(3));
}

TEST(Worth, TakesTheMostValuablePerSizeThatFit) {
  const std::vector<Loadable> candidates = {{.key = 0, .value = 0.9, .size = 100},
                                            {.key = 1, .value = 0.5, .size = 10},
                                            {.key = 2, .value = 0.5, .size = 10},
                                            {.key = 3, .value = 0.1, .size = 5}};
  EXPECT_THAT(most_valuable(candidates, 25), ElementsAre(1, 2, 3));
  EXPECT_THAT(most_valuable(candidates, 19), ElementsAre(1, 3));
  EXPECT_THAT(most_valuable(candidates, 125), ElementsAre(1, 2, 3, 0));
}

}  // namespace
}  // namespace berth::warm
