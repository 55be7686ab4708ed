// What holding costs clients that wait for their answers before they ask again: compared with `eager`, which never
// holds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serving/dispatch/testing/closed_loop.h"

namespace berth::serving {
namespace {

/// 6.125 ms for one row, 72.5 ms for 64.
LatencyTable loop_latency() {
  std::vector<Micros> times;
  for (RowCount rows = 1; rows <= 64; ++rows) times.emplace_back(6125 + 1053 * (rows - 1));
  return LatencyTable(std::move(times));
}

struct Think {
  Micros fixed = {};
  Micros random = {};
};

constexpr Think kThinks[] = {
    {}, {.random = Micros(300)}, {.random = Micros(1000)}, {.fixed = Micros(3000)}, {.random = Micros(5000)}};

ClosedLoop loop_of(int clients, std::int64_t target_ms, const Think& think) {
  return {.policy = {},
          .latency = loop_latency(),
          .clients = clients,
          .target = Micros(target_ms * 1000),
          .think_fixed = think.fixed,
          .think_random = think.random,
          .warm_up = Micros::seconds(3),
          .length = Micros::seconds(5)};
}

ClosedLoopFigures run_eager(ClosedLoop loop) {
  loop.policy.rival = RivalKind::kEager;
  return run_closed_loop(loop);
}

std::string name_of(const ClosedLoop& loop) {
  return std::to_string(loop.clients) + " clients, target " + std::to_string(loop.target.count()) + " us, think " +
         std::to_string(loop.think_fixed.count()) + " + " + std::to_string(loop.think_random.count()) + " us";
}

TEST(ClosedLoop, OneClientDoesNotWaitForCompany) {
  for (const std::int64_t target_ms : {25, 100, 30'000}) {
    for (const Think& think : kThinks) {
      const ClosedLoop loop = loop_of(1, target_ms, think);
      EXPECT_LE(run_closed_loop(loop).latency_mean_us, 1.2 * 6125) << name_of(loop);
    }
  }
}

TEST(ClosedLoop, SomebodyWhoAsksOnceInAWhileIsAnsweredAtOnce) {
  ClosedLoop loop = loop_of(1, 30'000, {.random = Micros::seconds(2)});
  loop.warm_up = Micros(0);
  loop.length = Micros::seconds(400);
  EXPECT_LE(run_closed_loop(loop).latency_mean_us, 1.2 * 6125);
}

TEST(ClosedLoop, ManyClientsAreServedAsFastAsWithoutHolding) {
  for (const int clients : {8, 64}) {
    for (const std::int64_t target_ms : {25, 100, 30'000}) {
      for (const Think& think : kThinks) {
        const ClosedLoop loop = loop_of(clients, target_ms, think);
        const ClosedLoopFigures own = run_closed_loop(loop);
        const ClosedLoopFigures eager = run_eager(loop);
        EXPECT_GE(own.in_time_per_second, 0.9 * eager.in_time_per_second) << name_of(loop);
        EXPECT_LE(own.latency_mean_us, 1.25 * eager.latency_mean_us) << name_of(loop);
      }
    }
  }
}

TEST(ClosedLoop, TheFirstAnswersAreSlowForHundredsOfMillisecondsOnly) {
  ClosedLoop loop = loop_of(8, 30'000, {.random = Micros(300)});
  loop.warm_up = Micros(0);
  loop.length = Micros::seconds(2);
  EXPECT_GE(run_closed_loop(loop).answers_per_second, 0.9 * run_eager(loop).answers_per_second);
}

TEST(ClosedLoop, EqualRunsGiveEqualFigures) {
  const ClosedLoop loop = loop_of(8, 100, {.random = Micros(5000)});
  EXPECT_EQ(run_closed_loop(loop).latency_mean_us, run_closed_loop(loop).latency_mean_us);
}

}  // namespace
}  // namespace berth::serving
