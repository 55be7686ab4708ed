// Changes made by outside devices are measured: plans use the times, also after a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/session/device_intent.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ChangeKind kSessionCreates{.model = "A100-80GB", .profile = "1g.10gb", .action = ActionKind::kCreation};

/// One service that wants slices of one A100, whose changes the test carries out.
class SessionTimesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Session> make_session(bool tells, double speed = 1) {
    Scenario scenario = sim::testing::scenario_of(
        {sim::testing::service_of("s", {{.profile = "1g.10gb"}},
                                  sim::testing::generated(Generator::Kind::kPoisson, Decimal(5), 600))},
        {}, 1);
    scenario.layout.reset();
    SessionOptions options;
    options.has_outside_devices = true;
    options.device_speed = speed;
    options.listener.next_intent = [this] { return ++last_intent_; };
    options.listener.boot = [] { return "boot"; };
    if (tells) options.listener.entry = [this](const Entry& entry) { told_.push_back(entry); };
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }
  /// A session with slices that must be created, as their GPU was lost.
  void begin(double speed = 1) {
    session_ = make_session(true, speed);
    session_->begin();
    while (made_ < 3) make_slices(Micros::seconds(2));
  }
  /// Creates all wanted slices again, each in that time.
  void make_slices(Micros each) {
    session_->lose_gpu({0}, "a test");
    session_->return_gpu({0});
    advance(20);
    for (const DeviceIntent& intent : session_->take_device_intents()) {
      ++made_;
      session_->end_device_intent(intent,
                                  {.intent = intent.number, .outcome = kDoneOutcome, .gpu_instance_us = each.count()});
    }
    advance(5);
  }
  void advance(std::int64_t seconds) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    while (session_->advance(until)) {
    }
  }
  [[nodiscard]] static std::vector<std::string> learned(const Session& session) {
    std::vector<std::string> messages;
    for (const LoggedEvent& event : session.events().after(session.events().oldest_sequence() - 1, 10'000)) {
      if (event.kind == EventKind::kTimesMeasured) messages.push_back(event.message);
    }
    return messages;
  }

  std::uint64_t last_intent_ = 0;
  std::int64_t made_ = 0;
  std::vector<Entry> told_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTimesTest, PlansCountOnThem) {
  begin();
  EXPECT_THAT(learned(*session_), ElementsAre("creating a slice 1g.10gb of a A100-80GB takes 2 s, by 3 measured; plans "
                                              "counted on 0.5 s"));
  const MeasuredTimes wanted = {{kSessionCreates, {.median = Micros::seconds(2), .count = 3}}};
  EXPECT_EQ(session_->scenario().measured_times, wanted);
  EXPECT_EQ(session_->device_times().at(kSessionCreates).count, made_);
}

TEST_F(SessionTimesTest, AreThoseOfTheWorld) {
  begin(/*speed=*/10);
  EXPECT_EQ(session_->device_times().at(kSessionCreates).median, Micros::seconds(20));
  EXPECT_EQ(session_->scenario().measured_times.at(kSessionCreates).median, Micros::seconds(20));
}

TEST_F(SessionTimesTest, TimesAsAssumedAreNoNews) {
  session_ = make_session(true);
  session_->begin();
  while (made_ < 10) make_slices(Micros(510'000));
  EXPECT_THAT(learned(*session_), IsEmpty());
  EXPECT_TRUE(session_->scenario().measured_times.empty());
  EXPECT_EQ(session_->device_times().at(kSessionCreates).median, Micros(510'000));
}

TEST_F(SessionTimesTest, OutliveARestart) {
  begin();
  session_->emit_all();
  const auto repeated = make_session(false);
  repeated->repeat(told_, session_->order_count());
  repeated->resume(session_->world_left());
  const std::string bytes = session_->save();
  const auto restored = make_session(false);
  ASSERT_TRUE(restored->restore(bytes).has_value());
  restored->repeat({}, session_->order_count());
  restored->resume(session_->world_left());
  for (const Session* again : {repeated.get(), restored.get()}) {
    EXPECT_EQ(again->device_times(), session_->device_times());
    EXPECT_EQ(again->scenario().measured_times, session_->scenario().measured_times);
    EXPECT_EQ(learned(*again), learned(*session_));
  }
}

/// The process ended between a sample and its event.
TEST_F(SessionTimesTest, AreLearnedAtTheNextStartIfTheyWereNot) {
  begin();
  session_->emit_all();
  std::erase_if(told_, [](const Entry& entry) {
    const auto* seen = std::get_if<EventSeen>(&entry.what);
    return seen != nullptr && std::holds_alternative<TimesMeasured>(seen->event.what);
  });
  const auto again = make_session(false);
  again->repeat(told_, session_->order_count());
  EXPECT_TRUE(again->scenario().measured_times.empty());
  again->resume(session_->world_left());
  EXPECT_EQ(again->scenario().measured_times.at(kSessionCreates).median, Micros::seconds(2));
}

TEST_F(SessionTimesTest, AnotherSpeedIsLearnedAtTheNextStart) {
  begin();
  session_->emit_all();
  const auto again = make_session(false, /*speed=*/0.5);
  again->repeat(told_, session_->order_count());
  again->resume(session_->world_left());
  EXPECT_EQ(again->scenario().measured_times.at(kSessionCreates).median, Micros::seconds(1));
}

}  // namespace
}  // namespace berth::live
