#include "edges/live_driver/real_time_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kEpochUs = 1'764'400'000'000'000;
constexpr std::int64_t kDay = 86'400;

/// A world that follows a wall clock which a test sets. The other clock only passes.
class RealTimeClockTest : public ::testing::Test {
 protected:
  /// A process continues at that second of the world.
  void start(double now) {
    now_ = at(now);
    clock_.emplace(RealTimeClockOptions{.epoch_us = kEpochUs,
                                        .wall_us = [this] { return kEpochUs + wall_.micros(); },
                                        .steady = [this] { return steady_; },
                                        .report =
                                            [this](bool is_warning, const std::string& text) {
                                              reports_.push_back((is_warning ? "! " : "") + text);
                                            }},
                   now_);
  }
  static Instant at(double second) { return Instant(static_cast<std::int64_t>(second * 1e6)); }
  void set_wall(double second) { wall_ = at(second); }
  void pass(double seconds) {
    wall_ = wall_ + Micros(static_cast<std::int64_t>(seconds * 1e6));
    steady_ += std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
  }
  /// The world advances as far as it may; returns whether that was a jump.
  bool advance() {
    const RealTimeClock::Look look = clock_->look(now_);
    EXPECT_GE(look.until, now_) << "time never goes back";
    now_ = look.until;
    return look.is_jump;
  }

  Instant wall_;
  std::chrono::steady_clock::time_point steady_{std::chrono::hours(1)};
  std::vector<std::string> reports_;
  std::optional<RealTimeClock> clock_;
  Instant now_;
};

TEST_F(RealTimeClockTest, TheTimeIsThatOfTheWallClock) {
  set_wall(0.25);
  start(0);
  for (int step = 0; step < 100; ++step) {
    EXPECT_FALSE(advance());
    EXPECT_EQ(now_, wall_);
    pass(0.05);
  }
  set_wall(25);  // set forward by less than a minute
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(25));
  EXPECT_THAT(reports_, IsEmpty());
  EXPECT_EQ(clock_->trouble(), std::nullopt);
}

TEST_F(RealTimeClockTest, WhatAStartTookIsNotMissed) {
  set_wall(300);  // a first layout was searched for
  start(0);
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(300));
  set_wall(1000);
  start(0);
  EXPECT_TRUE(advance()) << "the world began in a process that ended before it ran";
}

TEST_F(RealTimeClockTest, MissedTimeIsJumpedOver) {
  set_wall(10);
  start(10);
  pass(60);
  EXPECT_FALSE(advance()) << "a minute is made up for";
  pass(61);  // the process was stopped
  EXPECT_TRUE(advance());
  EXPECT_EQ(now_, at(131));
  set_wall(131 + 3600);  // the machine slept, or the clock was set
  EXPECT_TRUE(advance());
  EXPECT_EQ(now_, at(131 + 3600));
  pass(1);
  EXPECT_FALSE(advance());
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(RealTimeClockTest, AWorldWaitsForAClockThatIsBehind) {
  set_wall(70);
  start(100);
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(100));
  EXPECT_THAT(reports_,
              ElementsAre("! the wall clock is 30.0 s behind the last recorded time: this world waits for it, "
                          "for at most 60 s"));
  EXPECT_EQ("! " + clock_->trouble().value(), reports_.front());
  pass(29);
  static_cast<void>(advance());
  EXPECT_EQ(now_, at(100));
  pass(2);
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(101));
  EXPECT_EQ(clock_->trouble(), std::nullopt);
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("waits"), "the time of this world is that of the wall clock again"));
}

TEST_F(RealTimeClockTest, AndGoesOnByItselfAfterAMinute) {
  set_wall(0);
  start(1000);
  static_cast<void>(advance());
  pass(59.9);
  static_cast<void>(advance());
  EXPECT_EQ(now_, at(1000));
  pass(0.1);
  static_cast<void>(advance());
  EXPECT_EQ(now_, at(1000));
  EXPECT_THAT(reports_.back(), HasSubstr("! the wall clock is still 940.0 s behind the last recorded time: the time of "
                                         "this world goes on from there until"));
  pass(10);
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(1010)) << "at the rate of time";
  set_wall(500);  // set again, not far enough
  pass(5);
  static_cast<void>(advance());
  EXPECT_EQ(now_, at(1015));
  EXPECT_TRUE(clock_->trouble().has_value());
  set_wall(1040);
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(1040));
  EXPECT_EQ(clock_->trouble(), std::nullopt);
}

TEST_F(RealTimeClockTest, AClockThatIsSetBackBySlewingIsNoNews) {
  set_wall(10);
  start(10);
  set_wall(9.5);
  static_cast<void>(advance());
  EXPECT_EQ(now_, at(10));
  pass(1);
  static_cast<void>(advance());
  EXPECT_EQ(now_, at(10.5));
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(RealTimeClockTest, AGapOfMoreThanAWeekIsNotBelieved) {
  set_wall(100 + 7 * kDay);
  start(100);
  EXPECT_TRUE(advance()) << "a week is";
  set_wall(100 + 15 * kDay);  // while it runs
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(100 + 7 * kDay));
  EXPECT_THAT(reports_, ElementsAre(AllOf(HasSubstr("! the wall clock is 8.0 days ahead"), HasSubstr("--accept-gap"))));
  pass(20);
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(120 + 7 * kDay));
  set_wall(130 + 7 * kDay);  // it was wrong, and is right again
  EXPECT_FALSE(advance());
  EXPECT_EQ(now_, at(130 + 7 * kDay));
  EXPECT_EQ(clock_->trouble(), std::nullopt);
}

TEST_F(RealTimeClockTest, AWorldByItselfMissesTimeToo) {
  set_wall(30 * kDay);
  start(0);
  static_cast<void>(advance());
  pass(3600);
  EXPECT_TRUE(advance());
  EXPECT_EQ(now_, at(3600));
}

TEST(ClockAfter, BelievesAWeek) {
  const Instant known = Instant::at_second(50);
  const auto after = [&](std::int64_t seconds, bool accepts_gap = false) {
    return clock_after(known, kEpochUs, kEpochUs + (50 + seconds) * 1'000'000, accepts_gap);
  };
  EXPECT_EQ(after(3600), Instant::at_second(3650));
  EXPECT_EQ(after(7 * kDay), Instant::at_second(50 + 7 * kDay));
  EXPECT_EQ(after(7 * kDay + 1), std::nullopt);
  EXPECT_EQ(after(7 * kDay + 1, true), Instant::at_second(51 + 7 * kDay));
  EXPECT_EQ(after(0), std::nullopt);
  EXPECT_EQ(after(-10, true), std::nullopt);
}

}  // namespace
}  // namespace berth::edges
