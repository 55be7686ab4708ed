#include "serving/dispatch/batch_window.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::serving {
namespace {

/// One row takes 10 ms, each further one 2 ms.
LatencyTable table_of(RowCount rows_max) {
  std::vector<Micros> times;
  for (RowCount rows = 1; rows <= rows_max; ++rows) times.emplace_back(8000 + 2000 * rows);
  return LatencyTable(times);
}

struct Queue {
  std::vector<Request> requests;
  std::vector<const Request*> waiting;
};

/// Requests of one row with these deadlines, in milliseconds.
Queue queue_of(const std::vector<int>& deadlines_ms) {
  Queue queue;
  for (const int deadline : deadlines_ms) {
    queue.requests.push_back({.number = std::ssize(queue.requests), .target = Micros(deadline * 1000)});
  }
  for (const Request& request : queue.requests) queue.waiting.push_back(&request);
  return queue;
}

TEST(BatchWindow, TakesAllThatAreInTime) {
  const Queue queue = queue_of({20, 20, 20});
  const BatchWindow window = find_batch_window(queue.waiting, table_of(8), 1, Instant(0));
  EXPECT_EQ(window.first, 0U);
  EXPECT_EQ(window.count, 3U);
}

TEST(BatchWindow, TheFirstDeadlineLimitsTheBatch) {
  const Queue queue = queue_of({12, 30, 30, 30});
  EXPECT_EQ(find_batch_window(queue.waiting, table_of(8), 1, Instant(0)).count, 2U);
}

TEST(BatchWindow, PassesOverRequestsThatMakeTheBatchTooSmall) {
  const Queue queue = queue_of({12, 30, 30, 30});
  const BatchWindow window = find_batch_window(queue.waiting, table_of(8), 3, Instant(0));
  EXPECT_EQ(window.first, 1U);
  EXPECT_EQ(window.count, 3U);
}

TEST(BatchWindow, PassesOverNothingThatAllOthersCanJoin) {
  const Queue queue = queue_of({12, 30});
  EXPECT_EQ(find_batch_window(queue.waiting, table_of(8), 5, Instant(0)).first, 0U);
}

TEST(BatchWindow, IsEmptyIfNothingCanBeInTime) {
  const Queue queue = queue_of({9, 9});
  EXPECT_EQ(find_batch_window(queue.waiting, table_of(8), 1, Instant(0)).count, 0U);
}

TEST(BatchWindow, ALaterDeadlineMayBeTheSooner) {
  const Queue queue = queue_of({30, 13, 30});  // the second has a low priority
  const BatchWindow window = find_batch_window(queue.waiting, table_of(8), 1, Instant(0));
  EXPECT_EQ(window.count, 2U);
}

TEST(BatchWindow, RowsToKeepUpGrowWithTheLoad) {
  const LatencyTable table = table_of(64);
  EXPECT_EQ(rows_to_keep_up(table, Micros(100'000), 1, 1.0), 1);
  EXPECT_EQ(rows_to_keep_up(table, Micros(100'000), 1, 0.004), 4);   // 8 + 2 x 4 = 4 x 4
  EXPECT_EQ(rows_to_keep_up(table, Micros(100'000), 1, 0.001), 21);  // half of the target: 8 + 2 x 21 = 50
  EXPECT_EQ(rows_to_keep_up(table, Micros(5000), 1, 0.001), 1);
}

}  // namespace
}  // namespace berth::serving
