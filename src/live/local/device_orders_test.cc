#include "live/local/device_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Ends orders when a test says so.
class FakeHands final : public GpuHands {
 public:
  void submit(const std::vector<DeviceOrder>& orders) override {
    given.insert(given.end(), orders.begin(), orders.end());
  }
  [[nodiscard]] std::vector<DeviceEnd> take_ended() override { return std::exchange(ended, {}); }
  [[nodiscard]] std::vector<DeviceEnd> take_delayed() override { return std::exchange(delayed, {}); }
  [[nodiscard]] std::optional<std::string> why_not(const std::string&) const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::string> why_gone() const override { return std::nullopt; }

  std::vector<DeviceOrder> given;
  std::vector<DeviceEnd> ended;
  std::vector<DeviceEnd> delayed;
};

/// One service that wants slices of one A100, which outside devices create.
class DeviceOrdersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Scenario scenario = sim::testing::scenario_of(
        {sim::testing::service_of("s", {{.profile = "1g.10gb"}},
                                  sim::testing::generated(Generator::Kind::kPoisson, Decimal(5), 600))},
        {}, 1);
    scenario.layout.reset();
    SessionOptions options;
    options.has_outside_devices = true;
    options.listener.next_intent = [this] { return ++last_intent_; };
    options.listener.boot = [this] { return boot_; };
    options.records_first = true;
    options.listener.record = [this](const std::vector<Entry>& entries) -> std::optional<std::string> {
      if (!can_record_) return "the disk is full";
      for (const Entry& entry : entries) {
        if (const auto* intended = std::get_if<DeviceIntended>(&entry.what)) recorded_.push_back(intended->intent);
      }
      return std::nullopt;
    };
    session_ = std::move(*Session::make(std::move(scenario), std::move(options)));
    gpus_ = {{.uuid = "GPU-0", .model = session_->scenario().model_of({0})}};
    session_->begin();
    // This session puts the first layout in place at once, so the GPU is lost and returns: slices created again are
    // created outside.
    session_->lose_gpu({0}, "a test");
    session_->return_gpu({0});
    advance(20);
  }
  void advance(std::int64_t seconds) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    while (session_->advance(until)) {
    }
  }

  bool can_record_ = true;
  std::optional<std::string> boot_ = "boot";
  std::uint64_t last_intent_ = 0;
  std::vector<std::uint64_t> recorded_;
  std::unique_ptr<Session> session_;
  std::vector<DeviceOrders::Gpu> gpus_;
  FakeHands hands_;
};

TEST_F(DeviceOrdersTest, AreRecordedBeforeAnybodyHasThem) {
  DeviceOrders orders(gpus_, &hands_, false);
  can_record_ = false;
  orders.give(*session_);
  EXPECT_THAT(hands_.given, IsEmpty());
  can_record_ = true;
  orders.give(*session_);
  ASSERT_FALSE(hands_.given.empty());
  EXPECT_EQ(recorded_.size(), hands_.given.size());
  EXPECT_EQ(hands_.given[0].verb, DeviceVerb::kCreate);
  EXPECT_EQ(hands_.given[0].uuid, "GPU-0");
  EXPECT_EQ(hands_.given[0].length, 1);
  EXPECT_FALSE(hands_.given[0].was_tried);
  orders.give(*session_);
  EXPECT_EQ(recorded_.size(), hands_.given.size());  // each once
}

TEST_F(DeviceOrdersTest, WhatIsDoneStandsAndIsMeasured) {
  DeviceOrders orders(gpus_, &hands_, false);
  orders.give(*session_);
  for (const DeviceOrder& order : hands_.given) {
    hands_.ended.push_back({.intent = order.intent,
                            .outcome = DeviceOutcome::kDone,
                            .gpu_instance_us = 200,
                            .compute_instance_us = 50,
                            .reading = GpuReading()});
  }
  EXPECT_THAT(orders.take(*session_), SizeIs(1));
  EXPECT_EQ(orders.open_count(), 0U);
  advance(10);
  EXPECT_EQ(session_->slice_state(0), SliceState::kServing);
  const MeasuredTimes times = session_->device_times();
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times.begin()->second.median, Micros(250));
}

TEST_F(DeviceOrdersTest, WhatFailsIsToldWithTheCall) {
  DeviceOrders orders(gpus_, &hands_, false);
  orders.give(*session_);
  hands_.ended.push_back({.intent = hands_.given[0].intent,
                          .outcome = DeviceOutcome::kBusy,
                          .message = "in use: pid 7 (python3)",
                          .call = "nvmlGpuInstanceDestroy",
                          .error = "NVML_ERROR_IN_USE",
                          .holders = {{.pid = 7, .name = "python3"}}});
  EXPECT_EQ(orders.take(*session_).at(0), std::nullopt);
  std::set<std::string> messages;
  for (const LoggedEvent& event : session_->events().after(0, 1000)) messages.insert(event.message);
  const bool is_told = std::ranges::any_of(messages, [](const std::string& message) {
    return message.ends_with(": in use: pid 7 (python3): nvmlGpuInstanceDestroy returned NVML_ERROR_IN_USE");
  });
  EXPECT_TRUE(is_told);
}

TEST_F(DeviceOrdersTest, WhatSomebodyElsesLockKeptFromTheDriverNeverStood) {
  const auto created = [this] {
    const auto events = session_->events().after(0, 1000);
    return std::ranges::count(events, EventKind::kSliceCreated, &LoggedEvent::kind);
  };
  DeviceOrders orders(gpus_, &hands_, false);
  orders.give(*session_);
  const auto before = created();
  hands_.ended.push_back({.intent = hands_.given[0].intent,
                          .outcome = DeviceOutcome::kBusy,
                          .message = "another berth process (pid 736) owns it"});
  EXPECT_EQ(orders.take(*session_).at(0), std::nullopt);
  EXPECT_EQ(created(), before);
  EXPECT_THAT(session_->snapshot().slices, IsEmpty());
}

TEST_F(DeviceOrdersTest, WhoDelaysAnOrderIsToldWhileItIsOpen) {
  DeviceOrders orders(gpus_, &hands_, false);
  orders.give(*session_);
  const std::size_t count = orders.open_count();
  hands_.delayed.push_back(
      {.intent = hands_.given[0].intent, .outcome = DeviceOutcome::kBusy, .message = "in use: pid 7 (python3)"});
  EXPECT_THAT(orders.take(*session_), IsEmpty());
  EXPECT_EQ(session_->last_note({0}, DeviceNote::kBusy), "in use: pid 7 (python3); the order is given again");
  EXPECT_EQ(orders.open_count(), count);
}

TEST_F(DeviceOrdersTest, WithoutARecordedBootNobodyHasThem) {
  DeviceOrders orders(gpus_, &hands_, false);
  boot_.reset();
  orders.give(*session_);
  EXPECT_FALSE(orders.turn_mig_on(*session_, 0));
  EXPECT_THAT(hands_.given, IsEmpty());
  boot_ = "boot";
  orders.give(*session_);
  EXPECT_FALSE(hands_.given.empty());
}

TEST_F(DeviceOrdersTest, AnOrderThatIsGivenUpEndsOnceMore) {
  DeviceOrders orders(gpus_, &hands_, false);
  orders.give(*session_);
  const std::uint64_t intent = hands_.given[0].intent;
  const std::size_t count = orders.open_count();
  hands_.ended.push_back({.intent = intent, .goes_on = true, .message = "no end after 60 s"});
  EXPECT_EQ(orders.take(*session_).at(0), std::nullopt);
  EXPECT_EQ(orders.open_count(), count);
  session_->see_gpu({0}, world::ObservedLayout());
  hands_.ended.push_back({.intent = intent, .outcome = DeviceOutcome::kDone, .reading = GpuReading()});
  EXPECT_TRUE(orders.take(*session_).at(0).has_value());
  EXPECT_EQ(orders.open_count(), count - 1);
  const auto& slices = session_->snapshot().slices;
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_FALSE(slices[0].is_foreign);
}

TEST_F(DeviceOrdersTest, MigModeIsRecordedOrderedAndTold) {
  DeviceOrders orders(gpus_, &hands_, false);
  ASSERT_TRUE(orders.turn_mig_on(*session_, 0));
  ASSERT_THAT(hands_.given, SizeIs(1));
  EXPECT_EQ(hands_.given[0].verb, DeviceVerb::kMigModeOn);
  EXPECT_TRUE(orders.is_mig_mode_open(0));
  hands_.ended.push_back({.intent = hands_.given[0].intent,
                          .outcome = DeviceOutcome::kBusy,
                          .message = "the GPU is in use by pid 7 (python3)"});
  EXPECT_THAT(orders.take(*session_), SizeIs(1));
  EXPECT_FALSE(orders.is_mig_mode_open(0));
  EXPECT_EQ(session_->last_note({0}, DeviceNote::kMigMode), "not turned on: the GPU is in use by pid 7 (python3)");
}

TEST_F(DeviceOrdersTest, ADryRunRecordsAndDoesNothing) {
  DeviceOrders orders(gpus_, &hands_, true);
  orders.give(*session_);
  EXPECT_FALSE(recorded_.empty());
  EXPECT_THAT(hands_.given, IsEmpty());
  EXPECT_EQ(orders.open_count(), 0U);
}

}  // namespace
}  // namespace berth::live
