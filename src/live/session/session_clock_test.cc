// A world of real GPUs whose clock goes on while no process observes it: at a restart, and while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/testing/recovery.h"
#include "live/session/usage_book.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

using ::testing::IsEmpty;

namespace t = sim::testing;

/// Two GPUs: one with two slices, one without.
class SessionClock : public ::testing::Test {
 protected:
  SessionClock() {
    session_ = make();
    session_->begin();
    run_to(10.5);
  }

  [[nodiscard]] std::unique_ptr<Session> make() {
    const ServiceSpec service = t::service_of("a", {{.profile = "3g.40gb", .latency_ms = 10}},
                                              t::generated(Generator::Kind::kConstant, Decimal(20), 60));
    SessionOptions options;
    options.policy = "fixed";
    options.has_load = false;
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    options.listener.usage = [this](const UsageInterval& interval) { usage_.push_back(interval); };
    options.listener.past_usage = [this](const UsageInterval& interval) { past_.push_back(interval); };
    return std::move(*Session::make(
        t::scenario_of(
            {service},
            {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(0, "3g.40gb", 4), {0})}, 2),
        std::move(options)));
  }
  static Instant at(double second) { return Instant(static_cast<std::int64_t>(second * 1e6)); }
  void run_to(double second) {
    while (session_->now() < at(second)) static_cast<void>(session_->advance(at(second)));
  }
  /// The process ends, and the next one finds that clock.
  void restart(std::optional<Instant> clock) {
    session_->emit_all();
    sim::WorldLeft left = session_->world_left();
    const std::vector<Entry> entries = entries_;
    session_ = make();
    session_->repeat(entries, left.world.orders);
    session_->resume(std::move(left), clock);
  }
  /// What a later process repeats is what this one has.
  void expect_repeated() {
    session_->emit_all();
    past_.clear();
    const auto again = make();
    again->repeat(std::vector<Entry>(entries_), session_->order_count());
    EXPECT_THAT(testing::find_differences(*session_, *again), IsEmpty());
    EXPECT_EQ(past_, usage_) << "also the usage that is over";
  }
  [[nodiscard]] std::ptrdiff_t jump_count() const {
    return std::ranges::count_if(entries_,
                                 [](const Entry& entry) { return std::holds_alternative<ClockJumped>(entry.what); });
  }
  /// The usage of a unit of gpu-0, from its beginning to now without a gap.
  void expect_covered() const {
    Instant reached;
    for (const UsageInterval& interval : usage_) {
      if (interval.gpu.index != 0 || interval.what.part.start != 0) continue;
      EXPECT_EQ(interval.what.from, reached);
      reached = interval.to;
    }
    EXPECT_EQ(session_->usage().open()[0][0].from, reached);
  }

  std::vector<Entry> entries_;
  std::vector<UsageInterval> usage_;
  std::vector<UsageInterval> past_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionClock, AfterARestartItIsTheWallClocksAndTheTimeBetweenIsUsageOfTheHolders) {
  const std::vector<OpenUsage> held = session_->usage().open()[0];
  const std::uint64_t steps = session_->step_count();
  restart(at(7210.25));
  EXPECT_EQ(session_->now(), at(7210.25));
  EXPECT_LE(session_->step_count(), steps + 3) << "no step for what was missed";
  ASSERT_EQ(usage_.size(), 6U) << "three parts, before the gap and in it";
  for (std::size_t index = 0; index < usage_.size(); index += 2) {
    EXPECT_TRUE(usage_[index].is_observed);
    EXPECT_EQ(usage_[index].to, at(10.5));
    EXPECT_FALSE(usage_[index + 1].is_observed);
    EXPECT_EQ(usage_[index + 1].what.part, usage_[index].what.part) << "of whoever held it";
    EXPECT_GT(usage_[index + 1].what.sequence, usage_[index].what.sequence);
    EXPECT_EQ(usage_[index + 1].what.from, at(10.5));
    EXPECT_EQ(usage_[index + 1].to, at(7210.25));
  }
  EXPECT_EQ(usage_[0].what, held[0]);
  EXPECT_EQ(session_->usage().open()[0][0].part, held[0].part);
  expect_covered();
  EXPECT_EQ(jump_count(), 1);
  ASSERT_TRUE(session_->pause("look"));
  EXPECT_EQ(session_->events().after(0, 1000).back().at, at(7210.25)) << "events have the time of other logs";
  run_to(7220);
  expect_repeated();
}

TEST_F(SessionClock, ItCountsWhatWasGoneAtTheRestart) {
  session_->emit_all();
  sim::WorldLeft left = session_->world_left();
  left.devices[0].slices.pop_back();  // somebody destroyed it meanwhile
  const std::vector<Entry> entries = entries_;
  session_ = make();
  session_->repeat(entries, left.world.orders);
  session_->resume(std::move(left), at(100));
  ASSERT_GE(usage_.size(), 4U);
  EXPECT_EQ(usage_[3].what.part.state, UsageState::kHeld) << "nobody saw when it went";
  EXPECT_EQ(usage_[3].to, at(100));
  EXPECT_EQ(session_->usage().open()[0][1].part.state, UsageState::kChanging) << "it comes again";
  EXPECT_EQ(session_->usage().open()[0][1].from, at(100));
  expect_covered();
  expect_repeated();
}

TEST_F(SessionClock, WithoutAClockOrWithOneThatIsBehindNoTimePasses) {
  restart(std::nullopt);
  EXPECT_EQ(session_->now(), at(10.5));
  restart(at(4));
  EXPECT_EQ(session_->now(), at(10.5));
  EXPECT_EQ(jump_count(), 0);
  EXPECT_THAT(usage_, IsEmpty());
  run_to(12);
  expect_repeated();
}

TEST_F(SessionClock, ARunningWorldSkipsWhatItMissed) {
  const std::uint64_t steps = session_->step_count();
  session_->skip_to(at(3600));
  EXPECT_EQ(session_->now(), at(3600));
  EXPECT_LE(session_->step_count(), steps + 1);
  EXPECT_EQ(usage_.size(), 6U);
  expect_covered();
  run_to(3605.5);
  session_->skip_to(at(3605));  // not later
  EXPECT_EQ(session_->now(), at(3605.5));
  EXPECT_EQ(jump_count(), 1);
  sim::FaultOrder lost;
  lost.kind = sim::FaultKind::kLose;
  lost.gpus = {{0}};
  ASSERT_TRUE(session_->inject(lost).has_value());
  expect_covered();
  expect_repeated();
  restart(at(90'000));
  expect_covered();
  EXPECT_EQ(usage_.back().what.part.state, UsageState::kFree);
  expect_repeated();
}

TEST_F(SessionClock, WhatHappensByItselfMeanwhileIsSeenAtItsEnd) {
  sim::FaultOrder lost;
  lost.kind = sim::FaultKind::kLose;
  lost.gpus = {{0}};
  ASSERT_TRUE(session_->inject(lost).has_value());
  lost.kind = sim::FaultKind::kReturn;
  ASSERT_TRUE(session_->inject(lost).has_value());  // the layout comes again, which takes seconds
  run_to(11.2);
  session_->skip_to(at(500.5));
  run_to(520);
  EXPECT_TRUE(std::ranges::all_of(session_->usage().open()[0],
                                  [](const OpenUsage& open) { return open.part.state == UsageState::kHeld; }));
  expect_covered();
  expect_repeated();
}

}  // namespace
}  // namespace berth::live
