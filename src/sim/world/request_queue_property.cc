#include "sim/world/request_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>

#include "base/core/instant.h"
#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

/// A reference queue that stores all requests, together with the queue under test, which draws them again.
class QueueBesideModel {
 public:
  explicit QueueBesideModel(const Arrivals& arrivals)
      : arrivals_(arrivals), stream_(arrivals_, Rng(3)), queue_(stream_) {}

  void open_second() {
    std::vector<std::uint32_t> offsets;
    stream_copy().offsets(second_, offsets);
    for (const std::uint32_t offset : offsets) coming_.push_back(second_ * kMicrosPerSecond + offset);
    RC_ASSERT(queue_.open_second(second_) == static_cast<std::int64_t>(offsets.size()));
    ++second_;
  }
  void arrive_before(std::int64_t until_us) {
    queue_.arrive_before(until_us);
    while (!coming_.empty() && coming_.front() < until_us) {
      waiting_.push_back(coming_.front());
      coming_.pop_front();
    }
    check();
  }
  void take(std::int64_t count) {
    const std::int64_t possible = std::min(count, queue_.waiting());
    std::vector<std::int64_t> taken;
    queue_.take(possible, taken);
    RC_ASSERT(taken == std::vector<std::int64_t>(waiting_.begin(), waiting_.begin() + possible));
    waiting_.erase(waiting_.begin(), waiting_.begin() + possible);
    check();
  }
  void drop_head() {
    if (waiting_.empty()) return;
    queue_.drop_head();
    waiting_.pop_front();
    check();
  }
  /// Drops the waiting requests of at most that many seconds.
  void drop_seconds(int count) {
    for (; count > 0 && !waiting_.empty(); --count) {
      const std::int64_t second = waiting_.front() / kMicrosPerSecond;
      const auto end = std::ranges::find_if(
          waiting_, [&](std::int64_t arrival_us) { return arrival_us / kMicrosPerSecond != second; });
      const RequestQueue::Dropped dropped = queue_.drop_head_second();
      RC_ASSERT(dropped.second == second);
      RC_ASSERT(dropped.count == end - waiting_.begin());
      waiting_.erase(waiting_.begin(), end);
    }
    check();
  }
  [[nodiscard]] std::int64_t second() const { return second_; }

 private:
  void check() {
    RC_ASSERT(queue_.waiting() == static_cast<std::int64_t>(waiting_.size()));
    RC_ASSERT(queue_.next_arrival() == (coming_.empty() ? RequestQueue::kNever : coming_.front()));
    if (!waiting_.empty()) RC_ASSERT(queue_.head() == waiting_.front());
  }
  [[nodiscard]] ArrivalStream stream_copy() const { return {arrivals_, Rng(3)}; }

  const Arrivals arrivals_;
  ArrivalStream stream_;
  RequestQueue queue_;
  std::int64_t second_ = 0;
  std::deque<std::int64_t> coming_;
  std::deque<std::int64_t> waiting_;
};

RC_GTEST_PROP(RequestQueueProperty, DrawingAgainIsLikeKeeping, ()) {
  const auto counts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(
      rc::gen::weightedOneOf<std::uint32_t>({{2, rc::gen::just(0U)}, {3, rc::gen::inRange(0U, 12U)}})));
  QueueBesideModel queues(testing::counted(counts));
  while (queues.second() < static_cast<std::int64_t>(counts.size())) {
    const std::int64_t begin_us = queues.second() * kMicrosPerSecond;
    queues.open_second();
    for (const int part : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
      if (part == 0) queues.drop_head();
      if (part == 1) queues.take(*rc::gen::inRange(0, 40));
      if (part == 2) queues.drop_seconds(*rc::gen::inRange(1, 5));
      if (part >= 3) queues.arrive_before(begin_us + (part - 2) * 250'000);
    }
    queues.arrive_before(begin_us + kMicrosPerSecond);
  }
  queues.take(1000);
}

}  // namespace
}  // namespace berth::sim
