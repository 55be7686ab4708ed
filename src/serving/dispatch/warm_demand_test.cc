#include "serving/dispatch/warm_demand.h"

#include <gtest/gtest.h>

#include "serving/dispatch/dispatcher.h"

namespace berth::serving {
namespace {

constexpr ModelIndex kHourly(0);
constexpr ModelIndex kOther(1);

ModelTerms warm_terms(std::int64_t bytes) {
  return {.name = "m", .bytes = bytes, .load = Micros(500'000), .latency = LatencyTable({Micros(10'000)})};
}

DeviceState device_of(int models) {
  DeviceState device(100, 1, QueueOrder::kUrgency);
  for (int i = 0; i < models; ++i) device.add_model(warm_terms(10));
  return device;
}

TEST(WarmDemand, ExpectsNothingOfWhatWasNeverAskedFor) {
  WarmDemand demand;
  demand.add_model();
  EXPECT_EQ(demand.chance(kHourly), 0);
  EXPECT_EQ(demand.wake_at(Instant(0)), Instant::never());
  EXPECT_FALSE(demand.advance(device_of(1), Instant::at_second(100)));
}

TEST(WarmDemand, FindsAPeriod) {
  const DeviceState device = device_of(2);
  WarmDemand demand;
  demand.add_model();
  demand.add_model();
  for (int i = 0; i < 5; ++i) demand.learn_arrival(kHourly, Instant::at_second(600 * i));
  (void)demand.advance(device, Instant::at_second(2'400 + 300));
  EXPECT_LT(demand.chance(kHourly), 0.05);
  (void)demand.advance(device, Instant::at_second(2'400 + 600));
  EXPECT_GT(demand.chance(kHourly), 0.8);
  EXPECT_EQ(demand.chance(kOther), 0);
}

/// A request that just came counts at once: what follows it is judged by its gap, not by the one that ended.
TEST(WarmDemand, KnowsTheStepThatIsUnderWay) {
  const DeviceState device = device_of(2);
  WarmDemand demand;
  demand.add_model();
  demand.add_model();
  for (int i = 0; i < 5; ++i) demand.learn_arrival(kHourly, Instant::at_second(600 * i));
  EXPECT_LT(demand.chance(kHourly), 0.05);
}

TEST(WarmDemand, ALongPauseIsSkippedAndNothingIsExpectedInIt) {
  const DeviceState device = device_of(1);
  WarmDemand demand;
  demand.add_model();
  demand.learn_arrival(kHourly, Instant::at_second(1));
  const Instant later = Instant::at_second(1'000'000'000);
  EXPECT_TRUE(demand.advance(device, later));
  EXPECT_EQ(demand.wake_at(later), Instant::never());
  demand.learn_arrival(kHourly, later);
  EXPECT_LE(demand.wake_at(later), later + kWarmStep);
  EXPECT_FALSE(demand.advance(device, later));
}

/// Two models share a memory that has room for one: each returns before it is expected, without any request.
TEST(Preloads, AModelIsBackBeforeItIsAskedFor) {
  Dispatcher dispatcher({warm_terms(60), warm_terms(60)}, {{"default", 1}},
                        {.policy = {}, .eviction = EvictionRule::kWarm, .memory = 100, .lanes = 1});
  dispatcher.place_initially();
  int preloads = 0;
  int needed_late = 0;
  std::int64_t number = 0;
  for (std::int64_t second = 0; second < 6'000; ++second) {  // `a` each ten minutes, `b` five minutes later
    const Instant now = Instant::at_second(second);
    if (dispatcher.device().load() && dispatcher.device().load()->end <= now) dispatcher.end_load();
    if (dispatcher.device().lanes().front()) (void)dispatcher.end_batch(LaneIndex(0), now);
    if (second % 300 == 0) {
      dispatcher.arrive({.number = number++,
                         .model = second % 600 == 0 ? kHourly : kOther,
                         .tenant = TenantIndex(0),
                         .arrival = now,
                         .target = Micros::seconds(60)},
                        now);
    }
    dispatcher.decide(now);
    for (const Order& order : dispatcher.take_orders()) {
      const auto* load = std::get_if<StartLoad>(&order);
      if (load == nullptr) continue;
      if (load->is_preload) ++preloads;
      if (!load->is_preload && second > 3'000) ++needed_late;
    }
  }
  EXPECT_GE(preloads, 14);
  EXPECT_EQ(needed_late, 0);
}

/// `often` is idle and `seldom` runs when a third model needs the place of one: the load waits for some milliseconds.
TEST(Preloads, ALoadWaitsForALessValuableModelThatIsIdleSoon) {
  constexpr ModelIndex kOften(0);
  constexpr ModelIndex kSeldom(1);
  constexpr ModelIndex kNeeded(2);
  Dispatcher dispatcher({warm_terms(50), warm_terms(50), warm_terms(50)}, {{"default", 1}},
                        {.policy = {}, .eviction = EvictionRule::kWarm, .memory = 100, .lanes = 1});
  dispatcher.place_initially();
  std::int64_t number = 0;
  const auto ask = [&](ModelIndex model, Instant now) {
    dispatcher.arrive(
        {.number = number++, .model = model, .tenant = TenantIndex(0), .arrival = now, .target = Micros::seconds(60)},
        now);
    dispatcher.decide(now);
  };
  for (std::int64_t second = 0; second < 60; ++second) {
    ask(kOften, Instant::at_second(second));
    (void)dispatcher.end_batch(LaneIndex(0), Instant(second * 1'000'000 + 10'000));
  }
  ask(kSeldom, Instant::at_second(60));
  (void)dispatcher.take_orders();
  ask(kNeeded, Instant(60'001'000));
  EXPECT_TRUE(dispatcher.take_orders().empty());
  (void)dispatcher.end_batch(LaneIndex(0), Instant(60'010'000));
  dispatcher.decide(Instant(60'010'000));
  const std::vector<Order> orders = dispatcher.take_orders();
  ASSERT_EQ(orders.size(), 2U);
  EXPECT_EQ(std::get<Evict>(orders[0]).model, kSeldom);
  EXPECT_EQ(std::get<StartLoad>(orders[1]).model, kNeeded);
  EXPECT_FALSE(std::get<StartLoad>(orders[1]).is_preload);
}

}  // namespace
}  // namespace berth::serving
