#include "engine/elastic/surcharge.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::elastic {
namespace {

/// Two services with a thousand requests per second each, of which the second misses some, for a number of seconds.
void pass(Surcharge& surcharge, std::vector<Answers>& answers, int seconds, std::int64_t missed) {
  for (int second = 0; second < seconds; ++second) {
    for (Answers& each : answers) each.settled += 1'000;
    answers[0].in_time += 1'000;
    answers[1].in_time += 1'000 - missed;
    surcharge.end_second(answers);
  }
}

TEST(Surcharge, IsNoneWhereTheAttainmentIsKept) {
  Surcharge surcharge(Decimal(99, 100), 2);
  std::vector<Answers> answers(2);
  pass(surcharge, answers, 600, 10);
  EXPECT_EQ(surcharge.share(), 0);
  // Misses more than it may for a minute, but is ahead overall.
  answers[1].in_time += 6'000;
  pass(surcharge, answers, 60, 50);
  EXPECT_EQ(surcharge.share(), 0);
}

TEST(Surcharge, GrowsWhileAServiceIsBehindAndMissesMore) {
  Surcharge surcharge(Decimal(99, 100), 2);
  std::vector<Answers> answers(2);
  pass(surcharge, answers, 20, 50);
  EXPECT_NEAR(surcharge.share(), 0.01, 0.001);
  pass(surcharge, answers, 100'000, 50);
  EXPECT_NEAR(surcharge.share(), 0.5, 0.001);
}

TEST(Surcharge, FadesOnceNothingMoreIsMissed) {
  Surcharge surcharge(Decimal(99, 100), 2);
  std::vector<Answers> answers(2);
  pass(surcharge, answers, 400, 50);
  // The last minute still has misses for a minute.
  pass(surcharge, answers, 60, 0);
  const double most = surcharge.share();
  pass(surcharge, answers, 900, 0);  // behind overall
  EXPECT_NEAR(surcharge.share(), most / 2, 0.001);
}

}  // namespace
}  // namespace berth::elastic
