#include "edges/live_driver/live_driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "edges/live_driver/real_time_clock.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/usage_book.h"
#include "sim/world/testing/scenarios.h"

namespace berth::edges {
namespace {

TEST(LiveDriver, WhatNeedsNoLockIsDoneWithTheTurnAlone) {
  Scenario scenario = sim::testing::scenario_of({}, {}, 2);
  scenario.layout.reset();
  const auto session = std::move(*live::Session::make(std::move(scenario), {}));
  session->begin();
  FairMutex turn;
  FairMutex lock;
  SolverThread solver;
  std::atomic<int> step_count = 0;
  std::atomic<int> unlocked_count = 0;
  LiveDriverOptions options{.speed = 0, .until = Instant::at_second(20)};
  options.stepped = [&] {
    EXPECT_EQ(lock.users(), 1U);
    return ++step_count % 2 == 0;
  };
  options.without_lock = [&] {
    EXPECT_EQ(turn.users(), 1U);
    EXPECT_EQ(lock.users(), 0U);
    ++unlocked_count;
  };
  LiveDriver driver(*session, turn, lock, solver, std::move(options));
  driver.start();
  EXPECT_EQ(driver.wait_for_end(std::chrono::minutes(1)), WorldEnd::kReached);
  driver.stop();
  EXPECT_GT(step_count, 10);
  EXPECT_EQ(unlocked_count, step_count / 2);
}

TEST(LiveDriver, FollowsAClockAndJumpsOverWhatWasMissed) {
  Scenario scenario = sim::testing::scenario_of({}, {}, 2);
  scenario.layout.reset();
  live::SessionOptions session_options;
  session_options.has_load = false;
  int unobserved_count = 0;
  session_options.listener.usage = [&](const live::UsageInterval& interval) {
    if (!interval.is_observed) ++unobserved_count;
  };
  const auto session = std::move(*live::Session::make(std::move(scenario), std::move(session_options)));
  session->begin();
  FairMutex turn;
  FairMutex lock;
  SolverThread solver;
  std::atomic<std::int64_t> wall_us = 0;
  RealTimeClock clock({.wall_us = [&] { return wall_us.load(); }}, session->now());
  LiveDriverOptions options{.speed = 1, .clock = &clock, .until = Instant::at_second(7303)};
  LiveDriver driver(*session, turn, lock, solver, std::move(options));
  driver.start();
  const auto wait_for = [&](Instant at) {
    for (int look = 0; look < 6000; ++look) {
      {
        const std::scoped_lock hold(lock);
        if (session->now() >= at) return session->now() == at;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  wall_us = 5'250'000;
  EXPECT_TRUE(wait_for(Instant(5'250'000)));
  wall_us = 2'000'000;  // set back: it waits
  wall_us = 7'300'500'000;
  EXPECT_TRUE(wait_for(Instant(7'300'500'000)));
  wall_us = 8'000'000'000;
  EXPECT_EQ(driver.wait_for_end(std::chrono::minutes(1)), WorldEnd::kReached);
  driver.stop();
  EXPECT_EQ(session->now(), Instant::at_second(7303));
  EXPECT_LT(session->step_count(), 30U) << "two hours are not stepped through";
  EXPECT_EQ(unobserved_count, 4) << "both GPUs, twice";
}

}  // namespace
}  // namespace berth::edges
