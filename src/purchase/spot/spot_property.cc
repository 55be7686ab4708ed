// On any market: a run is what the plain rules give, `optimal` is the exhaustive optimum, and `berth` meets every
// deadline that can be met, without looking ahead.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/core/whole_division.h"
#include "purchase/spot/learning_policy.h"
#include "purchase/spot/optimal.h"
#include "purchase/spot/study.h"
#include "purchase/spot/testing/plain_run.h"

namespace berth::purchase {
namespace {

using testing::cost_of;
using testing::decisions_of;
using testing::random_market;

SpotPrices any_prices() {
  const std::int64_t spot = *rc::gen::inRange<std::int64_t>(1, 4'000'000);
  return {.on_demand_micro_usd = *rc::gen::inRange<std::int64_t>(1, 4'000'000), .spot_micro_usd = spot};
}

/// A job of some ticks that can be met on demand alone, with some slack.
SpotJob any_job(std::int64_t tick_seconds, std::int64_t ticks_max, std::int64_t restart_max) {
  const std::int64_t restart = *rc::gen::inRange<std::int64_t>(0, restart_max + 1);
  const std::int64_t task = *rc::gen::inRange<std::int64_t>(1, ticks_max * tick_seconds + 1);
  const std::int64_t need = ceil_divide(task + restart, tick_seconds) * tick_seconds;
  const std::int64_t slack = *rc::gen::inRange<std::int64_t>(0, ticks_max * tick_seconds);
  return {.task_seconds = task, .deadline_seconds = need + slack, .restart_seconds = restart};
}

Market any_market(std::size_t zones, const SpotJob& job, std::int64_t tick_seconds) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto ticks = static_cast<std::size_t>(ceil_divide(job.deadline_seconds, tick_seconds));
  return random_market(rng, zones, ticks, tick_seconds);
}

RC_GTEST_PROP(SpotRuns, AreWhatThePlainRulesGive, ()) {
  const auto tick_seconds = *rc::gen::inRange<std::int64_t>(1, 1000);
  const SpotJob job = any_job(tick_seconds, 30, 3 * tick_seconds);
  const auto zones = *rc::gen::inRange<std::size_t>(1, 4);
  const Market market = any_market(zones, job, tick_seconds);
  const SpotPrices prices = any_prices();
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<Holding> wants(100);
  for (Holding& want : wants) {
    const std::uint64_t kind = rng.below(3);
    want = kind == 0 ? kNothing : kind == 1 ? kOnDemandInstance : spot_in(rng.below(zones));
  }
  const RunResult result = run_job(market, job, [&](const RunState& state) {
    const auto tick = static_cast<std::size_t>(state.tick);
    return tick < wants.size() ? wants[tick] : kOnDemandInstance;
  });
  const testing::PlainResult plain = testing::run_plainly(market, job, prices, wants);
  RC_ASSERT(decisions_of(result) == plain.decisions);
  RC_ASSERT(cost_of(result, prices) == plain.cost);
  RC_ASSERT(result.switches == plain.switches);
  RC_ASSERT(result.is_missed == plain.is_missed);
}

RC_GTEST_PROP(SpotOptimal, IsTheExhaustiveOptimum, ()) {
  const auto tick_seconds = *rc::gen::inRange<std::int64_t>(1, 10);
  const SpotJob job = any_job(tick_seconds, 4, 2 * tick_seconds);
  RC_PRE(job.deadline_seconds <= 9 * tick_seconds);
  const Market market = any_market(*rc::gen::inRange<std::size_t>(1, 3), job, tick_seconds);
  const SpotPrices prices = any_prices();
  const std::int64_t best = testing::cheapest_plainly(market, job, prices);
  const RunResult result = run_policy(SpotPolicy::kOptimal, market, job, prices);
  if (best < 0) {
    RC_ASSERT(decisions_of(result) == decisions_of(run_policy(SpotPolicy::kOnDemand, market, job, prices)));
    return;
  }
  RC_ASSERT(!result.is_missed);
  RC_ASSERT(cost_of(result, prices) == best);
}

RC_GTEST_PROP(SpotBerth, MeetsEachDeadlineThatOnDemandMeets, ()) {
  const auto tick_seconds = *rc::gen::inRange<std::int64_t>(1, 4000);
  const SpotJob job = any_job(tick_seconds, 120, 4 * tick_seconds);
  const Market market = any_market(*rc::gen::inRange<std::size_t>(1, 4), job, tick_seconds);
  RC_ASSERT(!run_policy(SpotPolicy::kBerth, market, job, any_prices()).is_missed);
}

/// Withdraws spot whenever it has just been taken: the worst that can happen in the next tick.
RC_GTEST_PROP(SpotBerth, MeetsItsDeadlineOnAHostileMarket, ()) {
  const auto tick_seconds = *rc::gen::inRange<std::int64_t>(1, 4000);
  const SpotJob job = any_job(tick_seconds, 60, 2 * tick_seconds);
  const auto ticks = static_cast<std::size_t>(ceil_divide(job.deadline_seconds, tick_seconds)) + 1;
  Market market = testing::market_of({std::string(ticks, '0')}, tick_seconds);
  const SpotPrices prices{.on_demand_micro_usd = 3'060'000, .spot_micro_usd = 1};
  const auto patience = *rc::gen::inRange<int>(1, 6);
  LearningPolicy policy(market, job, prices);
  int held_for = 0;
  const RunResult result = run_job(market, job, [&](const RunState& state) {
    const Holding want = policy.want(state);
    held_for = want.hold == Hold::kSpot ? held_for + 1 : 0;
    const auto next = static_cast<std::size_t>(state.tick) + 1;
    if (next < ticks) market.is_available[0][next] = held_for < patience;
    if (held_for >= patience) held_for = 0;
    return want;
  });
  RC_ASSERT(!result.is_missed);
}

RC_GTEST_PROP(SpotBerth, DoesNotLookAhead, ()) {
  const auto tick_seconds = *rc::gen::inRange<std::int64_t>(60, 1200);
  const SpotJob job = any_job(tick_seconds, 60, tick_seconds);
  const auto zones = *rc::gen::inRange<std::size_t>(1, 3);
  const Market market = any_market(zones, job, tick_seconds);
  const SpotPrices prices = any_prices();
  const std::size_t ticks = market.is_available.front().size();
  const auto known = *rc::gen::inRange<std::size_t>(0, ticks);
  Market other = any_market(zones, job, tick_seconds);
  for (std::size_t zone = 0; zone < zones; ++zone) {
    const auto& from = market.is_available[zone];
    std::copy(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(known), other.is_available[zone].begin());
  }
  const std::string one = decisions_of(run_policy(SpotPolicy::kBerth, market, job, prices)).substr(0, known);
  const std::string two = decisions_of(run_policy(SpotPolicy::kBerth, other, job, prices)).substr(0, known);
  RC_ASSERT(one == two);
}

}  // namespace
}  // namespace berth::purchase
