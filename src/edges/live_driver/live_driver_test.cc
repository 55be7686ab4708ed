#include "edges/live_driver/live_driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "live/session/session.h"
#include "live/session/session_options.h"
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

}  // namespace
}  // namespace berth::edges
