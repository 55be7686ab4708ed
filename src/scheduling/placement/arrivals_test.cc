#include "scheduling/placement/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduling/placement/testing/small_lists.h"

namespace berth::placement {
namespace {

using ::testing::ElementsAre;
using testing::problem_of;

std::int64_t milli_of(const Problem& problem, const Arrivals& arrivals) {
  std::int64_t milli = 0;
  for (const std::int32_t row : arrivals.rows) milli += problem.shape_of(row).demand_milli();
  return milli;
}

TEST(Arrivals, GivenAreThoseOfTheListWithGangsTogether) {
  const Problem problem = problem_of({{}, {}}, {{}, {.gang = "g"}, {}, {.gang = "g"}});
  const Arrivals arrivals = given_arrivals(problem);
  EXPECT_THAT(arrivals.node_order, ElementsAre(NodeIndex(0), NodeIndex(1)));
  EXPECT_THAT(arrivals.rows, ElementsAre(0, 1, 3, 2));
  ASSERT_EQ(arrivals.batches.size(), 3U);
  EXPECT_EQ(arrivals.batches[1].count, 2);
  EXPECT_TRUE(arrivals.batches[1].is_gang);
}

TEST(Arrivals, SeededOnesAreDrawnUntilTheNextWouldExceedTheDemand) {
  const Problem problem = problem_of({{.gpus = 8}}, {{.milli = 300}, {.gpus = 2}, {.gpus = 0}});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Arrivals arrivals = *seeded_arrivals(problem, Decimal(13, 10), seed);
    const std::int64_t milli = milli_of(problem, arrivals);
    // A pair of GPUs counts as one where its fitting is checked, so it may exceed the demand by one.
    EXPECT_LE(milli, 10'400 + 1000);
    EXPECT_GT(milli, 10'400 - 1000);
    std::vector<std::int32_t> first(arrivals.rows.begin(), arrivals.rows.begin() + 3);
    EXPECT_THAT(first, ::testing::UnorderedElementsAre(0, 1, 2)) << "every row once, then those that are drawn";
  }
}

TEST(Arrivals, SeededOnesAreRemovedWhereTheListAsksForTooMuch) {
  const Problem problem = problem_of({{.gpus = 4}}, std::vector<testing::PodSketch>(20));
  const Arrivals arrivals = *seeded_arrivals(problem, Decimal(2), 7);
  EXPECT_EQ(arrivals.rows.size(), 8U);
  std::vector<std::int32_t> rows = arrivals.rows;
  std::ranges::sort(rows);
  EXPECT_EQ(std::ranges::adjacent_find(rows), rows.end()) << "no row twice";
}

TEST(Arrivals, TheSameSeedGivesTheSameAndAnotherSeedGivesOthers) {
  const Problem problem = testing::random_problem(Rng(3), false);
  const Arrivals one = *seeded_arrivals(problem, Decimal(1), 42);
  EXPECT_EQ(one.rows, seeded_arrivals(problem, Decimal(1), 42)->rows);
  EXPECT_NE(one.rows, seeded_arrivals(problem, Decimal(1), 43)->rows);
}

TEST(Arrivals, NothingCanBeDrawnFromPodsWithoutGpus) {
  const Problem problem = problem_of({{}}, {{.gpus = 0}});
  EXPECT_FALSE(seeded_arrivals(problem, Decimal(1), 1).has_value());
  EXPECT_FALSE(churning_arrivals(problem, Decimal(1), 1).has_value());
  EXPECT_EQ(given_arrivals(problem).rows.size(), 1U);
}

TEST(Arrivals, ChurningOnesStayForAMeanOfTheTurnover) {
  const Problem problem = problem_of({{.gpus = 8}, {.gpus = 8}}, {{.milli = 100}, {.milli = 300}});
  // 16 GPUs x 1.3 x 2 rows / 0.4 GPUs: 104 pods, so 520 arrivals of which those from 208 on count.
  const Arrivals arrivals = *churning_arrivals(problem, Decimal(13, 10), 5);
  EXPECT_EQ(arrivals.rows.size(), 520U);
  EXPECT_EQ(arrivals.measured_from, 208);
  EXPECT_TRUE(std::ranges::is_sorted(arrivals.departures));
  double stays = 0;
  for (const Departure& departure : arrivals.departures) {
    EXPECT_GT(departure.before, departure.decision);
    stays += static_cast<double>(departure.before - departure.decision);
  }
  EXPECT_NEAR(stays / static_cast<double>(arrivals.departures.size()), 104, 35);
}

}  // namespace
}  // namespace berth::placement
