#include "purchase/spot/testing/plain_run.h"

#include <algorithm>
#include <optional>

namespace berth::purchase::testing {
namespace {

/// What the rules keep from tick to tick.
struct State {
  std::int64_t i = 0;
  Holding type;
  std::int64_t r = 0;
  std::int64_t done = 0;
  std::int64_t cost = 0;
  std::int64_t switches = 0;
};

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Rule 1.
void charge(State& state, const SpotJob& job, const SpotPrices& prices, std::int64_t g) {
  if (state.type.hold == Hold::kNone) return;
  state.cost += state.type.hold == Hold::kSpot ? prices.spot_micro_usd : prices.on_demand_micro_usd;
  state.done = std::min(job.task_seconds, state.done + std::max<std::int64_t>(g - state.r, 0));
  state.r = std::max<std::int64_t>(state.r - g, 0);
}

/// Rules 3, 5, 6 and 7.
void decide(State& state, const Market& market, const SpotJob& job, Holding want) {
  const std::int64_t g = market.tick_seconds;
  Holding held = state.type;
  if (held.hold == Hold::kSpot && !market.has(held.zone, state.i)) held = kNothing;
  const std::int64_t left = floor_of(job.deadline_seconds - state.i * g, g);
  const std::int64_t need = -floor_of(-(job.task_seconds - state.done + job.restart_seconds), g);
  if (need >= left) want = state.type.hold == Hold::kSpot && state.r == 0 ? state.type : kOnDemandInstance;
  if (want.hold == Hold::kSpot && !market.has(want.zone, state.i)) want = kNothing;
  if (want.hold != Hold::kNone && want != held) {
    state.r = job.restart_seconds;
    ++state.switches;
  }
  state.type = want;
}

bool is_late(const State& state, const Market& market, const SpotJob& job) {
  return state.i * market.tick_seconds > job.deadline_seconds;
}

void search(State state, const Market& market, const SpotJob& job, const SpotPrices& prices,
            std::optional<std::int64_t>& best) {
  charge(state, job, prices, market.tick_seconds);
  if (is_late(state, market, job)) return;  // the deadline is missed in any case
  if (state.done == job.task_seconds) {
    if (!best || state.cost < *best) best = state.cost;
    return;
  }
  std::vector<Holding> wants = {kNothing, kOnDemandInstance};
  for (std::size_t zone = 0; zone < market.zone_count(); ++zone) wants.push_back(spot_in(zone));
  for (const Holding& want : wants) {
    State next = state;
    decide(next, market, job, want);
    ++next.i;
    search(next, market, job, prices, best);
  }
}

char letter(const Holding& held) { return held.hold == Hold::kNone ? 'n' : held.hold == Hold::kSpot ? 's' : 'o'; }

}  // namespace

PlainResult run_plainly(const Market& market, const SpotJob& job, const SpotPrices& prices,
                        const std::vector<Holding>& wants) {
  State state;
  PlainResult result;
  while (true) {
    charge(state, job, prices, market.tick_seconds);
    if (state.done == job.task_seconds) break;
    const auto tick = static_cast<std::size_t>(state.i);
    decide(state, market, job, tick < wants.size() ? wants[tick] : kOnDemandInstance);
    result.decisions += letter(state.type);
    ++state.i;
  }
  result.cost = state.cost;
  result.switches = state.switches;
  result.is_missed = is_late(state, market, job);
  return result;
}

std::int64_t cheapest_plainly(const Market& market, const SpotJob& job, const SpotPrices& prices) {
  std::optional<std::int64_t> best;
  search({}, market, job, prices, best);
  return best.value_or(-1);
}

std::string decisions_of(const RunResult& result) {
  std::string text;
  for (const Holding& held : result.ticks) text += letter(held);
  return text;
}

std::int64_t cost_of(const RunResult& result, const SpotPrices& prices) {
  return result.spot_ticks * prices.spot_micro_usd + result.on_demand_ticks * prices.on_demand_micro_usd;
}

Market market_of(const std::vector<std::string>& unavailable, std::int64_t tick_seconds) {
  Market market{.series = {}, .window = "w", .tick_seconds = tick_seconds, .is_available = {}};
  for (std::size_t zone = 0; zone < unavailable.size(); ++zone) {
    market.series.push_back(std::string(1, static_cast<char>('a' + zone)));
    std::vector<bool>& ticks = market.is_available.emplace_back();
    for (const char c : unavailable[zone]) ticks.push_back(c == '0');
  }
  return market;
}

Market random_market(Rng& rng, std::size_t zones, std::size_t ticks, std::int64_t tick_seconds) {
  std::vector<std::string> texts(zones);
  for (std::string& text : texts) {
    bool is_away = rng.below(2) == 0;
    while (text.size() < ticks) {
      const std::size_t longest = std::size_t{1} << rng.below(8);
      text.append(1 + rng.below(longest), is_away ? '1' : '0');
      is_away = !is_away;
    }
    text.resize(ticks);
  }
  return market_of(texts, tick_seconds);
}

}  // namespace berth::purchase::testing
