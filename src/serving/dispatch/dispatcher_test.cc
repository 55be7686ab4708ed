#include "serving/dispatch/dispatcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::serving {
namespace {

constexpr ModelIndex kA(0);
constexpr ModelIndex kB(1);
constexpr LaneIndex kLane(0);

/// Batches of up to four rows: 10 ms, and 1 ms for each further row. A load takes 50 ms.
ModelTerms terms_of(const std::string& name, std::int64_t bytes) {
  return {.name = name,
          .bytes = bytes,
          .load = Micros(50'000),
          .latency = LatencyTable({Micros(10'000), Micros(11'000), Micros(12'000), Micros(13'000)})};
}

Request request_of(std::int64_t number, ModelIndex model, std::int64_t at_ms, std::int64_t target_ms) {
  return {.number = number,
          .model = model,
          .tenant = TenantIndex(0),
          .arrival = Instant(at_ms * 1000),
          .target = Micros(target_ms * 1000)};
}

Dispatcher berth_with(std::vector<ModelTerms> models, std::int64_t memory) {
  Dispatcher dispatcher(std::move(models), {{"default", 1}}, {.policy = {}, .memory = memory, .lanes = 1});
  dispatcher.place_initially();
  return dispatcher;
}

template <class Kind>
int count_of(const std::vector<Order>& orders) {
  return static_cast<int>(
      std::ranges::count_if(orders, [](const Order& order) { return std::holds_alternative<Kind>(order); }));
}

/// Of a rejection because of time.
const ExpectedWait& wait_of(const Order& order) { return std::get<ExpectedWait>(std::get<Reject>(order).reason); }

TEST(Dispatcher, RejectsWhatWouldBeLateAndSaysWhy) {
  Dispatcher dispatcher = berth_with({terms_of("a", 1)}, 1);
  dispatcher.arrive(request_of(0, kA, 0, 9), Instant(0));
  const auto orders = dispatcher.take_orders();
  ASSERT_EQ(count_of<Reject>(orders), 1);
  EXPECT_EQ(wait_of(orders[0]).own_batch, Micros(10'000));
  EXPECT_EQ(wait_of(orders[0]).load, Micros(0));
}

TEST(Dispatcher, ARequestThatOnlyTheLoadMakesLateStartsTheLoad) {
  Dispatcher dispatcher = berth_with({terms_of("a", 10), terms_of("b", 10)}, 10);
  dispatcher.arrive(request_of(0, kB, 0, 30), Instant(0));
  dispatcher.decide(Instant(0));
  const auto orders = dispatcher.take_orders();
  ASSERT_EQ(orders.size(), 3U);
  EXPECT_EQ(wait_of(orders[0]).load, Micros(50'000));
  EXPECT_EQ(std::get<Evict>(orders[1]).model, kA);
  EXPECT_EQ(std::get<StartLoad>(orders[2]).model, kB);
}

TEST(Dispatcher, ARejectedRequestMovesNoMoreValuableModel) {
  Dispatcher dispatcher = berth_with({terms_of("a", 10), terms_of("b", 10)}, 10);
  for (int i = 0; i < 20; ++i) dispatcher.arrive(request_of(i, kA, i * 5, 9), Instant(i * 5000));  // demand of `a`
  dispatcher.arrive(request_of(20, kB, 100, 30), Instant(100'000));
  dispatcher.decide(Instant(100'000));
  EXPECT_EQ(count_of<StartLoad>(dispatcher.take_orders()), 0);
}

TEST(Dispatcher, HoldsABatchForMoreRowsAndThenRunsIt) {
  Dispatcher dispatcher = berth_with({terms_of("a", 1)}, 1);
  dispatcher.arrive(request_of(0, kA, 0, 100), Instant(0));
  dispatcher.decide(Instant(0));
  EXPECT_TRUE(dispatcher.take_orders().empty());
  const Instant wake = dispatcher.wake_at();
  ASSERT_GT(wake, Instant(0));
  ASSERT_LT(wake, Instant(90'000));
  dispatcher.decide(wake);
  EXPECT_EQ(count_of<StartBatch>(dispatcher.take_orders()), 1);
}

TEST(Dispatcher, NothingWaitsPastItsDeadline) {
  Dispatcher dispatcher = berth_with({terms_of("a", 1)}, 1);
  dispatcher.arrive(request_of(0, kA, 0, 10), Instant(0));
  dispatcher.decide(Instant(0));
  EXPECT_EQ(count_of<StartBatch>(dispatcher.take_orders()), 1);
  dispatcher.arrive(request_of(1, kA, 1, 25), Instant(1000));
  dispatcher.decide(Instant(1000));
  EXPECT_EQ(dispatcher.wake_at(), Instant(16'001));  // its batch could no longer end at 26 ms
  dispatcher.decide(Instant(16'001));                // the first batch is late
  EXPECT_EQ(count_of<Drop>(dispatcher.take_orders()), 1);
}

TEST(Dispatcher, WhatIsLateBehindARunningBatchIsDroppedBeforeThatEnds) {
  Dispatcher dispatcher = berth_with({terms_of("a", 1), terms_of("b", 1)}, 2);
  Request low = request_of(0, kB, 0, 22);
  low.priority = 2;
  dispatcher.arrive(low, Instant(0));
  for (int i = 1; i <= 4; ++i) dispatcher.arrive(request_of(i, kA, 0, 30), Instant(0));
  dispatcher.decide(Instant(0));
  ASSERT_EQ(count_of<StartBatch>(dispatcher.take_orders()), 1) << "until 13 ms";
  dispatcher.decide(Instant(1'000));
  const auto orders = dispatcher.take_orders();
  ASSERT_EQ(count_of<Drop>(orders), 1);
  EXPECT_EQ(std::get<Drop>(orders[0]).request.number, 0);
}

TEST(Dispatcher, ABusyModelLeavesForOneThatHasWaitedForLong) {
  Dispatcher dispatcher = berth_with({terms_of("a", 10), terms_of("b", 10)}, 10);
  dispatcher.arrive(request_of(0, kA, 0, 10), Instant(0));
  dispatcher.decide(Instant(0));
  dispatcher.arrive(request_of(1, kB, 1, 200), Instant(1000));
  dispatcher.arrive(request_of(2, kA, 2, 900), Instant(2000));
  dispatcher.decide(Instant(2000));
  EXPECT_EQ(count_of<StartBatch>(dispatcher.take_orders()), 1);
  dispatcher.decide(Instant(101'000));  // half of the target of `b`; the first batch still runs
  dispatcher.arrive(request_of(3, kA, 102, 900), Instant(102'000));
  dispatcher.end_batch(kLane, Instant(103'000));
  dispatcher.decide(Instant(103'000));  // the second request of `a`, not the third
  auto orders = dispatcher.take_orders();
  ASSERT_EQ(orders.size(), 1U);
  ASSERT_EQ(std::get<StartBatch>(orders[0]).requests.size(), 1U);
  EXPECT_EQ(std::get<StartBatch>(orders[0]).requests[0].number, 2);
  dispatcher.end_batch(kLane, Instant(113'000));
  dispatcher.decide(Instant(113'000));
  orders = dispatcher.take_orders();
  ASSERT_EQ(orders.size(), 2U);
  EXPECT_EQ(std::get<Evict>(orders[0]).model, kA);
  EXPECT_EQ(std::get<StartLoad>(orders[1]).model, kB);
}

}  // namespace
}  // namespace berth::serving
