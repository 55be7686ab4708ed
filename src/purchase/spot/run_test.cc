/// The rules of a run, in cases small enough to follow by hand. A tick is 600 s.
#include "purchase/spot/run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "purchase/spot/rules.h"
#include "purchase/spot/study.h"
#include "purchase/spot/testing/plain_run.h"

namespace berth::purchase {
namespace {

using testing::decisions_of;
using testing::market_of;

constexpr SpotPrices kPrices = {.on_demand_micro_usd = 3'060'000, .spot_micro_usd = 973'100};

RunResult run(const std::string& unavailable, const SpotJob& job, const std::string& wants) {
  return run_job(market_of({unavailable}), job, [&](const RunState& state) {
    const auto tick = static_cast<std::size_t>(state.tick);
    const char want = tick < wants.size() ? wants[tick] : 'o';
    return want == 'n' ? kNothing : want == 's' ? spot_in(0) : kOnDemandInstance;
  });
}

TEST(RunJob, AStartTakesARestartAndATickIsWorkedBehindIt) {
  // 60 s of restart, then work: 540 + 600 + 60.
  const RunResult result =
      run("0000000000", {.task_seconds = 1200, .deadline_seconds = 6000, .restart_seconds = 60}, "sss");
  EXPECT_EQ(decisions_of(result), "sss");
  EXPECT_EQ(result.switches, 1);
  EXPECT_EQ(result.spot_ticks, 3);
  EXPECT_FALSE(result.is_missed);
}

TEST(RunJob, ATickCountsInFullThoughSpotIsGoneAtItsEnd) {
  const RunResult result =
      run("0100000000", {.task_seconds = 1200, .deadline_seconds = 6000, .restart_seconds = 0}, "sns");
  EXPECT_EQ(decisions_of(result), "sns");
  EXPECT_EQ(result.switches, 2);
}

TEST(RunJob, SpotThatIsNotThereIsNothing) {
  const RunResult result =
      run("1100000000", {.task_seconds = 600, .deadline_seconds = 6000, .restart_seconds = 0}, "sss");
  EXPECT_EQ(decisions_of(result), "nns");
  EXPECT_EQ(result.switches, 1);
}

TEST(RunJob, ALongRestartGoesOnOverTicks) {
  const RunResult result =
      run("0000000000", {.task_seconds = 600, .deadline_seconds = 6000, .restart_seconds = 1500}, "sssssss");
  EXPECT_EQ(decisions_of(result), "ssss");  // 600 + 600 + 300 of restart; 300 of work, then 300
}

TEST(RunJob, TheGuardTakesOverInTime) {
  // 3000 s of work with 600 s of restart in 6 ticks: there is no time to wait.
  const RunResult result =
      run("0000000000", {.task_seconds = 3000, .deadline_seconds = 3600, .restart_seconds = 600}, "nnnnnn");
  EXPECT_EQ(decisions_of(result), "oooooo");
  EXPECT_FALSE(result.is_missed);
}

TEST(RunJob, TheGuardAloneLosesATickWhenSpotGoesInTheLastOne) {
  // Spot runs when the guard takes effect, is lost with the next tick, and the guard's choice of it becomes nothing.
  const SpotJob job{.task_seconds = 3000, .deadline_seconds = 4200, .restart_seconds = 600};
  const RunResult result = run("0010000000", job, "sss");
  EXPECT_EQ(decisions_of(result).substr(0, 3), "ssn");
  EXPECT_TRUE(result.is_missed);
}

TEST(Rules, GreedyWaitsForSpotUntilTimeRunsOut) {
  const Market market = market_of({"1111111111111111"});
  const SpotJob job{.task_seconds = 3000, .deadline_seconds = 6000, .restart_seconds = 60};
  const RunResult result = run_policy(SpotPolicy::kGreedy, market, job, kPrices);
  EXPECT_EQ(decisions_of(result), "nnnnoooooo");
  EXPECT_FALSE(result.is_missed);
}

TEST(Rules, UniformProgressKeepsTheWorkAtItsShareOfTheTime) {
  const Market market = market_of({"1111111111111111"});
  const SpotJob job{.task_seconds = 3000, .deadline_seconds = 6000, .restart_seconds = 0};
  const RunResult result = run_policy(SpotPolicy::kUniformProgress, market, job, kPrices);
  // At second 0 nothing is behind; at 600 work is behind, so on demand runs on.
  EXPECT_EQ(decisions_of(result).substr(0, 2), "no");
  EXPECT_FALSE(result.is_missed);
}

TEST(Rules, TheFirstZoneThatHasSpotIsTaken) {
  const Market market = market_of({"1000", "0000"});
  RunState state;
  EXPECT_EQ(nearest_spot(market, state), spot_in(1));
  state.tick = 1;
  EXPECT_EQ(nearest_spot(market, state), spot_in(0));
  state.held = spot_in(1);
  EXPECT_EQ(nearest_spot(market, state), spot_in(1));  // it stays where it is
}

}  // namespace
}  // namespace berth::purchase
