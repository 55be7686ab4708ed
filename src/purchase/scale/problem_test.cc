// Values derived from a problem: rates, first replicas, bounds and prices, each worked out by hand.
#include "purchase/scale/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace berth::scale {
namespace {

using Counts = std::vector<std::uint32_t>;

ReplicaRate rate_of(const char* text) { return *ReplicaRate::of(*Decimal::parse(text)); }

Problem problem_of(const Counts& counts, std::int64_t from_second, const char* rate) {
  return {.load = {.counts = counts, .from_second = from_second},
          .rate = rate_of(rate),
          .wait_seconds = 2,
          .start_seconds = 60,
          .attainment = Decimal(99, 100)};
}

TEST(ReplicaRate, ServesWholeRequests) {
  EXPECT_EQ(rate_of("8").served_by(3), 24);
  EXPECT_EQ(rate_of("0.3").served_by(3), 0);
  EXPECT_EQ(rate_of("0.3").served_by(4), 1);
  EXPECT_EQ(rate_of("0.1").served_by(30), 3);  // not 2, as with binary fractions
  EXPECT_EQ(rate_of("1000000000").served_by(kReplicasMax), 1'000'000'000'000'000'000);
}

TEST(ReplicaRate, NeedsTheSmallestNumberThatServes) {
  for (const char* text : {"0.001", "0.3", "1", "2.5", "8", "1000"}) {
    const ReplicaRate rate = rate_of(text);
    for (const std::int64_t requests : {1, 2, 3, 7, 100, 1'001}) {
      const std::int64_t replicas = rate.replicas_for(requests);
      EXPECT_GE(rate.served_by(replicas), requests) << text;
      EXPECT_LT(rate.served_by(replicas - 1), requests) << text;
    }
    EXPECT_EQ(rate.replicas_for(0), 0);
  }
}

TEST(ReplicaRate, RefusesWhatIsOutOfRange) {
  for (const char* text : {"0", "-1", "0.0009", "1000000001", "0.0123456789"}) {
    const auto rate = ReplicaRate::of(*Decimal::parse(text));
    ASSERT_FALSE(rate.has_value()) << text;
    EXPECT_THAT(rate.error().message, testing::HasSubstr("wanted requests per second")) << text;
  }
}

TEST(Problem, BeginsWithReplicasForTheMeanBeforeIt) {
  // 600 seconds of 10 before the run, and other loads before those: ceil(1.2 x 10 / 8) = 2.
  Counts counts(700, 10);
  std::fill(counts.begin(), counts.begin() + 100, 1'000);
  EXPECT_EQ(initial_replicas(problem_of(counts, 700, "8")), 2);
  // 1.2 x 10 / 4 is 3 exactly.
  EXPECT_EQ(initial_replicas(problem_of(counts, 700, "4")), 3);
}

TEST(Problem, BeginsWithReplicasForAShorterHistoryOrTheFirstSecondsOfTheRun) {
  EXPECT_EQ(initial_replicas(problem_of({10, 20, 500, 500}, 2, "1")), 18);
  EXPECT_EQ(initial_replicas(problem_of({10, 20}, 0, "1")), 18);
  Counts counts(1'000, 0);
  std::fill(counts.begin() + 600, counts.end(), 1'000);
  EXPECT_EQ(initial_replicas(problem_of(counts, 0, "1")), 0);
  EXPECT_EQ(initial_replicas(problem_of({}, 0, "1")), 0);
}

TEST(Problem, IsBoundedByTheRequestsToBeServed) {
  const Counts counts = {1'000, 50, 51};
  const Problem problem = problem_of(counts, 1, "8");
  EXPECT_EQ(problem.requests(), 101);
  EXPECT_EQ(problem.in_time_needed(), 100);       // 99.99 rounded up
  EXPECT_EQ(bound_replica_seconds(problem), 13);  // 99.99 / 8 rounded up
  EXPECT_EQ(bound_replica_seconds(problem_of({100}, 0, "99")), 1);
}

TEST(Problem, PricesReplicaSecondsExactly) {
  EXPECT_EQ(micro_usd_of(3'600, 1'234'567), 1'234'567);
  EXPECT_EQ(micro_usd_of(1, 1'800), 0);  // a half goes to the even number
  EXPECT_EQ(micro_usd_of(3, 1'800), 2);
  EXPECT_EQ(micro_usd_of(1'000'000'000'000, 3'000'000), 833'333'333'333'333);
}

}  // namespace
}  // namespace berth::scale
