// On any demand: costs are what plain counting gives, the flow is the exhaustive optimum, no rule is below it, the
// break-even rule keeps its guarantee, and `berth` does not look ahead.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "purchase/commit/commit_rules.h"
#include "purchase/commit/coverage.h"
#include "purchase/commit/forward_buyer.h"

namespace berth::purchase {
namespace {

PlanList any_plans(std::size_t count, std::int64_t term_max) {
  PlanList plans{.on_demand_name = "od",
                 .on_demand_micro_usd_per_hour = *rc::gen::inRange<std::int64_t>(1, 1000),
                 .committed = {}};
  for (std::size_t i = 0; i < count; ++i) {
    plans.committed.push_back({.name = "p" + std::to_string(i),
                               .term_hours = *rc::gen::inRange<std::int64_t>(1, term_max + 1),
                               .micro_usd_per_hour = *rc::gen::inRange<std::int64_t>(0, 1000)});
  }
  return plans;
}

/// Steps, spikes, trends and silence.
HourlyDemand any_demand(std::size_t hours, std::int64_t units_max) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  HourlyDemand demand;
  const auto bound = static_cast<std::uint64_t>(units_max) + 1;
  while (demand.size() < hours) {
    const std::uint64_t length = 1 + rng.below(std::uint64_t{1} << rng.below(7));
    const auto level = static_cast<std::int64_t>(rng.below(bound));
    for (std::uint64_t i = 0; i < length && demand.size() < hours; ++i) demand.push_back(level);
  }
  return demand;
}

/// The cost, counted hour by hour and purchase by purchase.
std::int64_t plain_cost(const HourlyDemand& demand, const PlanList& plans, const std::vector<Purchase>& purchases) {
  std::int64_t cost = 0;
  for (std::int64_t hour = 0; hour < static_cast<std::int64_t>(demand.size()); ++hour) {
    std::int64_t covered = 0;
    for (const Purchase& purchase : purchases) {
      const CommitPlan& plan = plans.committed[purchase.plan];
      if (hour < purchase.hour || hour >= purchase.hour + plan.term_hours) continue;
      covered += purchase.units;
      cost += purchase.units * plan.micro_usd_per_hour;
    }
    const std::int64_t missing = std::max<std::int64_t>(demand[static_cast<std::size_t>(hour)] - covered, 0);
    cost += missing * plans.on_demand_micro_usd_per_hour;
  }
  return cost;
}

/// The least cost of any purchases: all numbers of units of each plan at each hour. Exponential.
std::int64_t exhaustive_cost(const HourlyDemand& demand, const PlanList& plans, std::size_t hour,
                             std::vector<Purchase>& purchases) {
  if (hour == demand.size()) return plain_cost(demand, plans, purchases);
  const std::int64_t units_max = std::ranges::max(demand);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> counts(plans.committed.size(), 0);
  while (true) {
    const std::size_t before = purchases.size();
    for (std::size_t plan = 0; plan < counts.size(); ++plan) {
      if (counts[plan] > 0) purchases.push_back({static_cast<std::int64_t>(hour), plan, counts[plan]});
    }
    best = std::min(best, exhaustive_cost(demand, plans, hour + 1, purchases));
    purchases.resize(before);
    std::size_t digit = 0;
    while (digit < counts.size() && ++counts[digit] > units_max) counts[digit++] = 0;
    if (digit == counts.size()) return best;
  }
}

std::int64_t cost(const HourlyDemand& demand, const PlanList& plans, const Coverage& coverage) {
  return cost_of(demand, plans, coverage).micro_usd;
}

RC_GTEST_PROP(CommitOptimum, IsTheExhaustiveOne, ()) {
  const auto plan_count = *rc::gen::inRange<std::size_t>(1, 3);
  const PlanList plans = any_plans(plan_count, 5);
  const HourlyDemand demand = any_demand(*rc::gen::inRange<std::size_t>(1, plan_count == 1 ? 7 : 4), 2);
  std::vector<Purchase> purchases;
  RC_ASSERT(cost(demand, plans, cheapest_purchases(demand, plans)) == exhaustive_cost(demand, plans, 0, purchases));
}

RC_GTEST_PROP(CommitRules, AreCountedRightAndNeverBelowTheOptimum, ()) {
  const PlanList plans = any_plans(1, 400);
  const HourlyDemand demand = any_demand(*rc::gen::inRange<std::size_t>(1, 600), 6);
  const std::int64_t best = cost(demand, plans, cheapest_purchases(demand, plans));
  for (const Coverage& coverage : {buy_constant(demand, plans), buy_trailing(demand, plans, 168),
                                   buy_at_break_even(demand, plans), buy_forward(demand, plans)}) {
    RC_ASSERT(cost(demand, plans, coverage) == plain_cost(demand, plans, coverage.purchases()));
    RC_ASSERT(cost(demand, plans, coverage) >= best);
  }
}

RC_GTEST_PROP(CommitBerth, BuysOfSeveralPlansWhatPlainCountingConfirms, ()) {
  const PlanList plans = any_plans(*rc::gen::inRange<std::size_t>(1, 4), 800);
  const HourlyDemand demand = any_demand(*rc::gen::inRange<std::size_t>(1, 900), 6);
  const Coverage coverage = buy_forward(demand, plans);
  RC_ASSERT(cost(demand, plans, coverage) == plain_cost(demand, plans, coverage.purchases()));
  const std::vector<std::int64_t> hourly = hourly_micro_usd(demand, plans, coverage);
  RC_ASSERT(hourly.size() == demand.size());
  RC_ASSERT(std::accumulate(hourly.begin(), hourly.end(), std::int64_t{0}) == cost(demand, plans, coverage));
}

RC_GTEST_PROP(CommitBerth, DoesNotLookAhead, ()) {
  const PlanList plans = any_plans(*rc::gen::inRange<std::size_t>(1, 4), 300);
  const auto hours = *rc::gen::inRange<std::size_t>(2, 900);
  const HourlyDemand demand = any_demand(hours, 6);
  HourlyDemand other = any_demand(hours, 6);
  const auto known = *rc::gen::inRange<std::size_t>(1, hours);
  std::copy(demand.begin(), demand.begin() + static_cast<std::ptrdiff_t>(known), other.begin());
  // The purchase of hour h may depend on the hours before h.
  const auto until = [&](const Coverage& coverage) {
    std::vector<Purchase> early = coverage.purchases();
    std::erase_if(early, [&](const Purchase& each) { return each.hour > static_cast<std::int64_t>(known); });
    return early;
  };
  RC_ASSERT(until(buy_forward(demand, plans)) == until(buy_forward(other, plans)));
}

/// Wang, Li and Liang: at most twice the optimum, for a single level whose purchases all pay their whole terms.
RC_GTEST_PROP(CommitBreakEven, CostsAtMostTwiceTheOptimumOfALevel, ()) {
  PlanList plans = any_plans(1, 60);
  plans.on_demand_micro_usd_per_hour = 1000;
  HourlyDemand demand = any_demand(*rc::gen::inRange<std::size_t>(1, 300), 1);
  demand.resize(demand.size() + 60, 0);  // each term ends within the horizon
  const std::int64_t best = cost(demand, plans, cheapest_purchases(demand, plans));
  RC_ASSERT(cost(demand, plans, buy_at_break_even(demand, plans)) <= 2 * best);
}

/// Demand that ends whenever the rule has just bought.
RC_GTEST_PROP(CommitBreakEven, CostsAtMostTwiceTheOptimumOnHostileDemand, ()) {
  PlanList plans = any_plans(1, 40);
  plans.on_demand_micro_usd_per_hour = 1000;
  HourlyDemand demand;
  const auto hours = *rc::gen::inRange<std::size_t>(10, 200);
  while (demand.size() < hours) {
    demand.push_back(1);
    const Coverage coverage = buy_at_break_even(demand, plans);
    if (coverage.active(static_cast<std::int64_t>(demand.size()) - 1) == 0) continue;
    demand.resize(demand.size() + static_cast<std::size_t>(plans.committed[0].term_hours), 0);
  }
  demand.resize(demand.size() + 40, 0);
  const std::int64_t best = cost(demand, plans, cheapest_purchases(demand, plans));
  RC_ASSERT(cost(demand, plans, buy_at_break_even(demand, plans)) <= 2 * best);
}

}  // namespace
}  // namespace berth::purchase
