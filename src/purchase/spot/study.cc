#include "purchase/spot/study.h"

#include "base/core/ensure.h"
#include "purchase/spot/learning_policy.h"
#include "purchase/spot/optimal.h"
#include "purchase/spot/rules.h"

namespace berth::purchase {
namespace {

constexpr std::int64_t kSecondsPerHour = 3600;
constexpr std::int64_t kMicroPerUsd = 1'000'000;
constexpr std::array<std::string_view, kSpotPolicies.size()> kNames = {"on-demand", "greedy", "uniform-progress",
                                                                       "optimal", "berth"};

RunResult run_optimal(const Market& market, const SpotJob& job, const SpotPrices& prices) {
  const std::vector<Holding> wants = cheapest_wants(market, job, prices);
  return run_job(market, job, [&](const RunState& state) {
    const auto tick = static_cast<std::size_t>(state.tick);
    return tick < wants.size() ? wants[tick] : kOnDemandInstance;
  });
}

/// Exact: a tick may cost a fraction of a micro-dollar.
Decimal cost_of(const RunResult& result, const SpotPrices& prices, std::int64_t tick_seconds) {
  const Decimal per_hour = Decimal(result.spot_ticks) * Decimal(prices.spot_micro_usd) +
                           Decimal(result.on_demand_ticks) * Decimal(prices.on_demand_micro_usd);
  return per_hour * Decimal(tick_seconds, kSecondsPerHour);
}

void add(SpotTotals& totals, const RunResult& result, const Decimal& micro_usd) {
  ++totals.runs;
  totals.missed += result.is_missed ? 1 : 0;
  totals.switches += result.switches;
  totals.micro_usd += micro_usd;
}

SpotScore empty_score(const SpotStudy& study, SpotPolicy policy) {
  SpotScore score{.policy = policy, .totals = {}, .groups = {}, .runs = {}};
  for (const std::int64_t deadline : study.deadlines) {
    for (const std::int64_t restart : study.restarts) {
      score.groups.push_back({.deadline_seconds = deadline, .restart_seconds = restart, .totals = {}});
    }
  }
  return score;
}

/// All runs of a policy; false if `hook` ended them.
bool run_all(const SpotStudy& study, SpotScore& score, const SpotHook& hook) {
  for (std::size_t i = 0; i < study.markets.size(); ++i) {
    const Market& market = study.markets[i];
    for (SpotGroup& group : score.groups) {
      const SpotJob job{.task_seconds = study.task_seconds,
                        .deadline_seconds = group.deadline_seconds,
                        .restart_seconds = group.restart_seconds};
      const RunResult result = run_policy(score.policy, market, job, study.prices);
      const Decimal micro_usd = cost_of(result, study.prices, market.tick_seconds);
      add(group.totals, result, micro_usd);
      add(score.totals, result, micro_usd);
      score.runs.push_back({.micro_usd = micro_usd, .is_missed = result.is_missed});
      if (!hook({.policy = score.policy, .market = i, .job = job, .result = &result})) return false;
    }
  }
  return true;
}

}  // namespace

std::string_view name_of(SpotPolicy policy) { return kNames[static_cast<std::size_t>(policy)]; }

bool has_hindsight(SpotPolicy policy) { return policy == SpotPolicy::kOptimal; }

SpotRunKey run_key(const SpotStudy& study, std::size_t index) {
  const std::size_t restarts = study.restarts.size();
  const std::size_t groups = study.deadlines.size() * restarts;
  ENSURE(index < study.markets.size() * groups);
  const std::size_t group = index % groups;
  return {.market = index / groups,
          .job = {.task_seconds = study.task_seconds,
                  .deadline_seconds = study.deadlines[group / restarts],
                  .restart_seconds = study.restarts[group % restarts]}};
}

RunResult run_policy(SpotPolicy policy, const Market& market, const SpotJob& job, const SpotPrices& prices) {
  const TickMath math{.job = job, .tick_seconds = market.tick_seconds};
  switch (policy) {
    case SpotPolicy::kOnDemand:
      return run_job(market, job, [](const RunState& /*state*/) { return kOnDemandInstance; });
    case SpotPolicy::kGreedy:
      return run_job(market, job, [&](const RunState& state) { return want_of_greedy(math, market, state); });
    case SpotPolicy::kUniformProgress:
      return run_job(market, job, [&](const RunState& state) { return want_of_uniform_progress(math, market, state); });
    case SpotPolicy::kOptimal:
      return run_optimal(market, job, prices);
    case SpotPolicy::kBerth:
      break;
  }
  LearningPolicy learning(market, job, prices);
  return run_job(market, job, [&](const RunState& state) { return learning.want(state); });
}

Decimal SpotTotals::average_usd() const {
  return runs == 0 ? Decimal(0) : micro_usd / Decimal(runs) / Decimal(kMicroPerUsd);
}

std::optional<std::vector<SpotScore>> run_spot_study(const SpotStudy& study, std::span<const SpotPolicy> policies,
                                                     const SpotHook& hook) {
  std::vector<SpotScore> scores;
  scores.reserve(policies.size());
  for (const SpotPolicy policy : policies) {
    scores.push_back(empty_score(study, policy));
    if (!run_all(study, scores.back(), hook)) return std::nullopt;
  }
  return scores;
}

std::optional<Decimal> score_of(const SpotTotals& totals, const SpotStudy& study) {
  const Decimal hours(study.task_seconds, kSecondsPerHour);
  const Decimal on_demand = hours * Decimal(study.prices.on_demand_micro_usd, kMicroPerUsd);
  const Decimal spot = hours * Decimal(study.prices.spot_micro_usd, kMicroPerUsd);
  if (on_demand == spot) return std::nullopt;
  return Decimal(100) * (on_demand - totals.average_usd()) / (on_demand - spot);
}

}  // namespace berth::purchase
