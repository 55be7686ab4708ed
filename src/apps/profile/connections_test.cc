#include "apps/profile/connections.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace berth::profiler {
namespace {

TEST(Connections, EachMeasuresAtLeastOneRequest) {
  std::atomic<int> sent = 0;
  const auto turn = run_connections({.processes = 3}, [&](std::size_t) -> Result<void> {
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  });
  ASSERT_TRUE(turn.has_value());
  ASSERT_EQ(turn->processes.size(), 3U);
  for (const models::ProcessTimes& times : turn->processes) {
    EXPECT_GE(times.count, 1);
    EXPECT_GE(times.sum_us, 1000);
    EXPECT_GE(times.elapsed_us, times.sum_us * 0.99);
  }
  EXPECT_GE(sent, 6);  // one each before it begins
}

TEST(Connections, AnErrorEndsAll) {
  std::atomic<int> sent = 0;
  const auto turn = run_connections({.processes = 2, .length_us = 1e9}, [&](std::size_t) -> Result<void> {
    if (++sent > 20) return invalid("enough");
    return {};
  });
  EXPECT_EQ(turn.error().message, "enough");
  const auto at_once = run_connections({.processes = 2}, [](std::size_t) -> Result<void> { return invalid("no"); });
  EXPECT_EQ(at_once.error().message, "no");
}

}  // namespace
}  // namespace berth::profiler
