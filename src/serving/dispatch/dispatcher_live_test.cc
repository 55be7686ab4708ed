// What a server does to a dispatcher beyond a simulation: models that come and go, loads that fail, lanes that are
// lost.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serving/dispatch/dispatcher.h"

namespace berth::serving {
namespace {

constexpr ModelIndex kOwnModel(0);
constexpr ModelIndex kOtherModel(1);
constexpr Instant kStart(0);

/// Batches of up to four rows of 10 ms; a load takes 50 ms.
ModelTerms live_terms(std::int64_t bytes) {
  return {.name = "m",
          .bytes = bytes,
          .load = Micros(50'000),
          .latency = LatencyTable(std::vector<Micros>(4, Micros(10'000)))};
}

Request live_request(std::int64_t number, ModelIndex model, Instant arrival = kStart) {
  return {.number = number, .model = model, .tenant = TenantIndex(0), .arrival = arrival, .target = Micros(1'000'000)};
}

/// Two cold models of 10 bytes.
Dispatcher live_dispatcher(DispatchTerms terms) {
  Dispatcher dispatcher({}, {{"default", 1}}, terms);
  EXPECT_EQ(dispatcher.add_model(live_terms(10)), kOwnModel);
  EXPECT_EQ(dispatcher.add_model(live_terms(10)), kOtherModel);
  return dispatcher;
}

Dispatcher live_dispatcher(std::int64_t memory) { return live_dispatcher({.policy = {}, .memory = memory}); }

void make_resident(Dispatcher& dispatcher, ModelIndex model) {
  dispatcher.want_load(model, kStart);
  dispatcher.decide(kStart);
  ASSERT_TRUE(dispatcher.end_load(model, dispatcher.device().model(model).terms.bytes));
  (void)dispatcher.take_orders();
}

/// Of the orders since the last call those of one kind.
template <class Kind>
std::vector<Kind> orders_of(Dispatcher& dispatcher, Instant now) {
  dispatcher.decide(now);
  std::vector<Kind> found;
  for (const Order& order : dispatcher.take_orders()) {
    if (const auto* of_kind = std::get_if<Kind>(&order)) found.push_back(*of_kind);
  }
  return found;
}

TEST(DispatcherLive, LoadsWhatIsAskedForWithoutARequest) {
  Dispatcher dispatcher = live_dispatcher(10);
  EXPECT_TRUE(orders_of<StartLoad>(dispatcher, kStart).empty());
  dispatcher.want_load(kOtherModel, kStart);
  const auto loads = orders_of<StartLoad>(dispatcher, kStart);
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(loads[0].model, kOtherModel);
}

TEST(DispatcherLive, ReservesThePeakOfALoadAndThenWhatWasMeasured) {
  Dispatcher dispatcher = live_dispatcher(100);
  ModelTerms terms = live_terms(10);
  terms.bytes_loading = 30;
  EXPECT_TRUE(dispatcher.set_terms(kOwnModel, terms).empty());
  dispatcher.want_load(kOwnModel, kStart);
  dispatcher.decide(kStart);
  EXPECT_EQ(dispatcher.device().bytes_free(), 70);
  EXPECT_TRUE(dispatcher.end_load(kOwnModel, 12));
  EXPECT_EQ(dispatcher.device().bytes_free(), 88);
  EXPECT_EQ(dispatcher.device().model(kOwnModel).terms.bytes, 12);
}

TEST(DispatcherLive, AModelThatIsLargerThanItsReservationMakesRoomForItself) {
  Dispatcher dispatcher = live_dispatcher(20);
  make_resident(dispatcher, kOwnModel);
  dispatcher.want_load(kOtherModel, kStart);
  dispatcher.decide(kStart);
  EXPECT_FALSE(dispatcher.end_load(kOtherModel, 15));
  EXPECT_EQ(dispatcher.device().bytes_free(), 0);
  dispatcher.fail_load(kOtherModel);
  EXPECT_EQ(dispatcher.device().bytes_free(), 10);
  dispatcher.want_load(kOtherModel, kStart);
  const auto evictions = orders_of<Evict>(dispatcher, kStart);
  ASSERT_EQ(evictions.size(), 1U);
  EXPECT_EQ(evictions[0].model, kOwnModel);
  EXPECT_EQ(dispatcher.device().bytes_free(), 5);
}

TEST(DispatcherLive, ALeaseProtectsUntilItEnds) {
  Dispatcher dispatcher = live_dispatcher(10);
  make_resident(dispatcher, kOwnModel);
  dispatcher.lease(kOwnModel, Instant(200'000));
  dispatcher.arrive(live_request(0, kOtherModel), kStart);
  EXPECT_TRUE(orders_of<Evict>(dispatcher, kStart).empty());
  EXPECT_EQ(dispatcher.wake_at(), Instant(200'000));
  EXPECT_EQ(orders_of<Evict>(dispatcher, Instant(200'000)).size(), 1U);
}

TEST(DispatcherLive, ALeaseCountsAsAWait) {
  Dispatcher dispatcher = live_dispatcher(10);
  make_resident(dispatcher, kOwnModel);
  dispatcher.lease(kOwnModel, Instant(2'000'000));
  dispatcher.arrive(live_request(0, kOtherModel), kStart);
  const auto rejected = orders_of<Reject>(dispatcher, kStart);
  ASSERT_EQ(rejected.size(), 1U);
  EXPECT_EQ(
      describe(rejected[0]),
      "it would take at least 2060 ms, and its target leaves 1000 ms: 2050 ms until the model is loaded, 10 ms for "
      "its own batch");
}

TEST(DispatcherLive, ALoadThatTheDeviceRefusedIsTriedAgainLater) {
  Dispatcher dispatcher = live_dispatcher(10);
  dispatcher.arrive(live_request(0, kOwnModel), kStart);
  EXPECT_EQ(orders_of<StartLoad>(dispatcher, kStart).size(), 1U);
  dispatcher.fail_load(kOwnModel);
  dispatcher.hold_off_load(kOwnModel, Instant(300'000));
  EXPECT_TRUE(orders_of<StartLoad>(dispatcher, kStart).empty());
  EXPECT_EQ(dispatcher.wake_at(), Instant(300'000));
  dispatcher.hold_off_load(kOwnModel, Instant(1000));  // memory was given back
  EXPECT_EQ(orders_of<StartLoad>(dispatcher, Instant(1000)).size(), 1U);
}

TEST(DispatcherLive, WithdrawReturnsWhatWaitsAndLetsTheModelLeave) {
  Dispatcher dispatcher = live_dispatcher(10);
  make_resident(dispatcher, kOwnModel);
  dispatcher.arrive(live_request(0, kOwnModel), kStart);
  const auto returned = dispatcher.withdraw(kOwnModel);
  ASSERT_EQ(returned.size(), 1U);
  EXPECT_EQ(returned[0].number, 0);
  EXPECT_EQ(orders_of<Evict>(dispatcher, kStart).size(), 1U);
  dispatcher.arrive(live_request(1, kOwnModel), kStart);
  const auto rejected = orders_of<Reject>(dispatcher, kStart);
  ASSERT_EQ(rejected.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<NotServed>(rejected[0].reason));
  dispatcher.offer(kOwnModel);
  dispatcher.arrive(live_request(2, kOwnModel), kStart);
  EXPECT_EQ(orders_of<StartLoad>(dispatcher, kStart).size(), 1U);
}

TEST(DispatcherLive, WhatIsLetGoAnswersWhatItAccepted) {
  Dispatcher dispatcher = live_dispatcher(10);
  dispatcher.arrive(live_request(0, kOwnModel), kStart);
  dispatcher.let_go(kOwnModel);
  EXPECT_EQ(orders_of<StartLoad>(dispatcher, kStart).size(), 1U);
  ASSERT_TRUE(dispatcher.end_load(kOwnModel, 10));
  const Instant late(900'000);  // its batch is held no longer
  EXPECT_EQ(orders_of<StartBatch>(dispatcher, late).size(), 1U);
  EXPECT_TRUE(orders_of<Evict>(dispatcher, late).empty());
  dispatcher.end_batch(LaneIndex(0), late);
  EXPECT_EQ(orders_of<Evict>(dispatcher, late).size(), 1U);
}

TEST(DispatcherLive, ShorterBatchesReturnRequestsThatNoLongerFit) {
  Dispatcher dispatcher = live_dispatcher(10);
  Request large = live_request(0, kOwnModel);
  large.rows = 4;
  dispatcher.arrive(large, kStart);
  dispatcher.arrive(live_request(1, kOwnModel), kStart);
  ModelTerms terms = live_terms(10);
  terms.latency = LatencyTable({Micros(10'000), Micros(11'000)});
  const auto returned = dispatcher.set_terms(kOwnModel, terms);
  ASSERT_EQ(returned.size(), 1U);
  EXPECT_EQ(returned[0].number, 0);
  EXPECT_EQ(dispatcher.device().requests_waiting(), 1);
}

TEST(DispatcherLive, AModelThatRanOnALostLaneKeepsItsMemory) {
  Dispatcher dispatcher = live_dispatcher(10);
  make_resident(dispatcher, kOwnModel);
  dispatcher.arrive(live_request(0, kOwnModel), kStart);
  const Instant late(900'000);
  ASSERT_EQ(orders_of<StartBatch>(dispatcher, late).size(), 1U);
  const auto lost = dispatcher.lose_lane(LaneIndex(0));
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->requests.size(), 1U);
  EXPECT_EQ(dispatcher.device().lanes_working(), 0);
  EXPECT_FALSE(dispatcher.device().fits_ever(kOtherModel));
  EXPECT_TRUE(dispatcher.withdraw(kOwnModel).empty());
  EXPECT_TRUE(orders_of<Evict>(dispatcher, late).empty());
  EXPECT_EQ(dispatcher.device().bytes_free(), 0);
}

TEST(DispatcherLive, CancelsOnlyWhatWaits) {
  Dispatcher dispatcher = live_dispatcher(10);
  dispatcher.arrive(live_request(0, kOwnModel), kStart);
  EXPECT_FALSE(dispatcher.cancel(kOwnModel, 1));
  EXPECT_FALSE(dispatcher.cancel(kOtherModel, 0));
  EXPECT_TRUE(dispatcher.cancel(kOwnModel, 0));
  EXPECT_FALSE(dispatcher.cancel(kOwnModel, 0));
  EXPECT_TRUE(orders_of<StartLoad>(dispatcher, kStart).empty());
}

TEST(DispatcherLive, WhatCanNeverFitTakesNoRequests) {
  Dispatcher dispatcher = live_dispatcher(10);
  const ModelIndex large = dispatcher.add_model(live_terms(11));
  EXPECT_FALSE(dispatcher.device().fits_ever(large));
  dispatcher.arrive(live_request(0, large), kStart);
  EXPECT_EQ(orders_of<Reject>(dispatcher, kStart).size(), 1U);
}

/// What the last of `count` requests of 10 bytes each is rejected with.
std::string last_rejection(const DispatchTerms& terms, std::int64_t queue_max, int count) {
  Dispatcher dispatcher = live_dispatcher(terms);
  ModelTerms limited = live_terms(10);
  limited.queue_max = queue_max;
  EXPECT_TRUE(dispatcher.set_terms(kOwnModel, limited).empty());
  for (int number = 0; number < count; ++number) {
    Request request = live_request(number, kOwnModel);
    request.bytes = 10;
    dispatcher.arrive(request, kStart);
  }
  const auto rejected = orders_of<Reject>(dispatcher, kStart);
  return rejected.size() == 1 ? describe(rejected[0]) : "";
}

TEST(DispatcherLive, QueuesAreBounded) {
  for (const auto rival : {std::optional<RivalKind>(), std::optional(RivalKind::kEager)}) {
    EXPECT_EQ(last_rejection({.policy = {rival}, .memory = 10}, 3, 4),
              "the queue of the model is full: 3 requests wait, at most 3 may");
    EXPECT_EQ(last_rejection({.policy = {rival}, .memory = 10, .queue_max = 2}, 0, 3),
              "the server is full: 2 requests wait, at most 2 may");
    EXPECT_EQ(last_rejection({.policy = {rival}, .memory = 10, .queue_bytes_max = 25}, 0, 3),
              "the server is full: 20 bytes of requests wait and this one has 10, at most 25 may wait");
    EXPECT_EQ(last_rejection({.policy = {rival}, .memory = 10, .queue_max = 3, .queue_bytes_max = 30}, 3, 3), "");
  }
}

}  // namespace
}  // namespace berth::serving
