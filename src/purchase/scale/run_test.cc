// Single seconds of a run, worked out by hand: starts, stops, deadlines, and payment.
#include "purchase/scale/run.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::scale {
namespace {

using Counts = std::vector<std::uint32_t>;
using Wants = std::vector<std::int64_t>;

struct Times {
  std::int64_t wait = 0;
  std::int64_t start = 0;
};

/// Serves `counts` with one replica per request and second, wanting `wants`.
RunResult run_wanting(const Counts& counts, Times times, std::int64_t ready, const Wants& wants) {
  const Problem problem{.load = {.counts = counts, .from_second = 0},
                        .rate = *ReplicaRate::of(Decimal(1)),
                        .wait_seconds = times.wait,
                        .start_seconds = times.start,
                        .attainment = Decimal(1)};
  return serve_run(problem, ready,
                   [&](const Moment& moment) { return wants[static_cast<std::size_t>(moment.second)]; });
}

TEST(ReplicaSet, StartsAndIsReadyAStartLater) {
  ReplicaSet replicas(2, 3);
  replicas.resize(5, 0);
  EXPECT_EQ(replicas.ready(), 2);
  EXPECT_EQ(replicas.starting(), 3);
  replicas.advance(2);
  EXPECT_EQ(replicas.ready(), 2);
  replicas.advance(3);
  EXPECT_EQ(replicas.ready(), 5);
  EXPECT_EQ(replicas.starting(), 0);
}

TEST(ReplicaSet, StopsTheNewestStartsFirst) {
  ReplicaSet replicas(2, 10);
  replicas.resize(3, 0);
  replicas.resize(6, 1);
  replicas.resize(4, 2);  // two of the three started at 1 stop
  EXPECT_EQ(replicas.ready(), 2);
  replicas.advance(10);
  EXPECT_EQ(replicas.ready(), 3);
  EXPECT_EQ(replicas.starting(), 1);
  replicas.resize(1, 10);  // the last start, then ready ones
  EXPECT_EQ(replicas.ready(), 1);
  EXPECT_EQ(replicas.starting(), 0);
}

TEST(ReplicaSet, IsReadyAtOnceWithoutAStartTime) {
  ReplicaSet replicas(0, 0);
  replicas.resize(4, 7);
  EXPECT_EQ(replicas.ready(), 4);
}

TEST(WaitQueue, ServesTheOldestAndDropsWhatWaitedTooLong) {
  const Counts counts = {5, 1, 0, 2};
  WaitQueue queue({.counts = counts, .from_second = 0}, 1, 0);
  EXPECT_EQ(queue.serve(0, 2), 2);  // 3 of second 0 wait
  EXPECT_EQ(queue.serve(1, 1), 1);  // 2 of second 0 and 1 of second 1 wait
  EXPECT_EQ(queue.missed(), 0);
  EXPECT_EQ(queue.serve(2, 0), 0);  // second 0 is too old now
  EXPECT_EQ(queue.missed(), 2);
  EXPECT_EQ(queue.serve(3, 9), 2);  // second 1 too
  EXPECT_EQ(queue.missed(), 3);
}

TEST(WaitQueue, ServesInTheSameSecondOnlyWithoutAWait) {
  const Counts counts = {3, 3};
  WaitQueue queue({.counts = counts, .from_second = 0}, 0, 0);
  EXPECT_EQ(queue.serve(0, 2), 2);
  EXPECT_EQ(queue.serve(1, 5), 3);
  EXPECT_EQ(queue.missed(), 1);
}

TEST(Run, PaysStartingReplicasAndServesWithReadyOnes) {
  // The replica wanted at 0 is ready at 2 and serves the request of 0, which may wait 2 seconds.
  const RunResult result = run_wanting({1, 0, 0}, {.wait = 2, .start = 2}, 0, {1, 1, 1});
  EXPECT_EQ(result, (RunResult{.replica_seconds = 3, .requests = 1, .in_time = 1, .ups = 1, .downs = 0}));
  EXPECT_EQ(run_wanting({1, 0, 0}, {.wait = 1, .start = 2}, 0, {1, 1, 1}).in_time, 0);
}

TEST(Run, LosesAStoppedReplicaAtOnce) {
  const RunResult result = run_wanting({2, 2, 2, 2}, {.wait = 0, .start = 2}, 2, {2, 1, 2, 2});
  // Second 1 and 2 and 3 have one ready replica; the second one wanted at 2 would be ready at 4.
  EXPECT_EQ(result, (RunResult{.replica_seconds = 7, .requests = 8, .in_time = 5, .ups = 1, .downs = 1}));
}

TEST(Run, MissesWhatIsLeftAtTheEnd) {
  const RunResult result = run_wanting({0, 9}, {.wait = 100, .start = 0}, 0, {0, 4});
  EXPECT_EQ(result, (RunResult{.replica_seconds = 4, .requests = 9, .in_time = 4, .ups = 1, .downs = 0}));
}

TEST(Run, MayWantNone) {
  const RunResult result = run_wanting({0, 0, 1}, {.wait = 0, .start = 1}, 3, {0, 0, 0});
  EXPECT_EQ(result, (RunResult{.replica_seconds = 0, .requests = 1, .in_time = 0, .ups = 0, .downs = 1}));
}

}  // namespace
}  // namespace berth::scale
