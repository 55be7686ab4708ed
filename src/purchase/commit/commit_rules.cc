#include "purchase/commit/commit_rules.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/core/decimal.h"
#include "base/core/ensure.h"
#include "base/solver/min_cost_flow.h"

namespace berth::purchase {
namespace {

constexpr std::int64_t kHoursPerDay = 24;

std::int64_t hours_of(const HourlyDemand& demand) { return static_cast<std::int64_t>(demand.size()); }

const CommitPlan& only_plan(const PlanList& plans) {
  ENSURE(plans.committed.size() == 1);
  return plans.committed.front();
}

/// The smallest value that at least (1 - rho) of the values do not exceed.
std::int64_t low_quantile(std::vector<std::int64_t> values, const PlanList& plans) {
  std::sort(values.begin(), values.end());
  const std::int64_t price = plans.on_demand_micro_usd_per_hour;
  const std::int64_t discount = price - only_plan(plans).micro_usd_per_hour;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_last_of_its_value = i + 1 == values.size() || values[i + 1] != values[i];
    const auto count = static_cast<std::int64_t>(i + 1);
    if (is_last_of_its_value && Int128{count} * price >= Int128{discount} * static_cast<std::int64_t>(values.size())) {
      return values[i];
    }
  }
  return values.back();
}

/// A level of demand, and the hours in which it was in use but not covered.
struct Level {
  std::deque<std::int64_t> hours;  ///< within the last term
  std::int64_t covered_to = 0;     ///< exclusive
};

}  // namespace

Coverage buy_constant(const HourlyDemand& demand, const PlanList& plans) {
  ENSURE(!demand.empty());
  const CommitPlan& plan = only_plan(plans);
  const std::int64_t hours = hours_of(demand);
  // By number of units: the hours that need more.
  std::vector<std::int64_t> hours_above(static_cast<std::size_t>(*std::max_element(demand.begin(), demand.end())) + 1,
                                        0);
  for (const std::int64_t units : demand) {
    if (units > 0) ++hours_above[static_cast<std::size_t>(units) - 1];
  }
  for (std::size_t i = hours_above.size() - 1; i > 0; --i) hours_above[i - 1] += hours_above[i];
  // Each further unit is needed in fewer hours, so the search ends at the first one that saves nothing.
  std::int64_t units = 0;
  while (Int128{hours_above[static_cast<std::size_t>(units)]} * plans.on_demand_micro_usd_per_hour >
         Int128{hours} * plan.micro_usd_per_hour) {
    ++units;
  }
  Coverage coverage(plans, hours);
  if (units == 0) return coverage;
  for (std::int64_t hour = 0; hour < hours; hour += plan.term_hours)
    coverage.buy({.hour = hour, .plan = 0, .units = units});
  return coverage;
}

Coverage buy_trailing(const HourlyDemand& demand, const PlanList& plans, std::int64_t window_hours) {
  ENSURE(window_hours > 0);
  Coverage coverage(plans, hours_of(demand));
  for (std::int64_t hour = kHoursPerDay; hour < hours_of(demand); hour += kHoursPerDay) {
    const auto begin = demand.begin() + std::max<std::int64_t>(hour - window_hours, 0);
    const std::int64_t units = low_quantile({begin, demand.begin() + hour}, plans) - coverage.active(hour);
    if (units > 0) coverage.buy({.hour = hour, .plan = 0, .units = units});
  }
  return coverage;
}

Coverage buy_at_break_even(const HourlyDemand& demand, const PlanList& plans) {
  ENSURE(!demand.empty());
  const CommitPlan& plan = only_plan(plans);
  const std::int64_t term = plan.term_hours;
  std::vector<Level> levels(static_cast<std::size_t>(*std::max_element(demand.begin(), demand.end())));
  Coverage coverage(plans, hours_of(demand));
  for (std::int64_t hour = 0; hour < hours_of(demand); ++hour) {
    std::int64_t bought = 0;
    for (std::int64_t i = 0; i < demand[static_cast<std::size_t>(hour)]; ++i) {
      Level& level = levels[static_cast<std::size_t>(i)];
      if (hour < level.covered_to) continue;
      level.hours.push_back(hour);
      while (level.hours.front() <= hour - term) level.hours.pop_front();
      const Int128 spent = Int128{plans.on_demand_micro_usd_per_hour} * static_cast<std::int64_t>(level.hours.size());
      if (spent < Int128{plan.micro_usd_per_hour} * term) continue;
      level = {.hours = {}, .covered_to = hour + term};
      ++bought;
    }
    if (bought > 0) coverage.buy({.hour = hour, .plan = 0, .units = bought});
  }
  return coverage;
}

Coverage cheapest_purchases(const HourlyDemand& demand, const PlanList& plans) {
  ENSURE(!demand.empty());
  const std::size_t hours = demand.size();
  const std::int64_t units_max = *std::max_element(demand.begin(), demand.end());
  solver::FlowProblem problem;
  problem.supplies.assign(hours + 1, 0);
  std::vector<std::pair<std::size_t, std::size_t>> purchases;  // hour and plan of the first arcs
  for (std::size_t hour = 0; hour < hours; ++hour) {
    problem.supplies[hour] += demand[hour];
    problem.supplies[hour + 1] -= demand[hour];
    for (std::size_t plan = 0; plan < plans.committed.size(); ++plan) {
      const CommitPlan& chosen = plans.committed[plan];
      const std::size_t end = std::min(hours, hour + static_cast<std::size_t>(chosen.term_hours));
      problem.arcs.push_back({.from = hour,
                              .to = end,
                              .capacity = units_max,
                              .cost = chosen.micro_usd_per_hour * static_cast<std::int64_t>(end - hour)});
      purchases.emplace_back(hour, plan);
    }
  }
  for (std::size_t hour = 0; hour < hours; ++hour) {
    problem.arcs.push_back(
        {.from = hour, .to = hour + 1, .capacity = units_max, .cost = plans.on_demand_micro_usd_per_hour});
    problem.arcs.push_back({.from = hour + 1, .to = hour, .capacity = units_max, .cost = 0});
  }
  const auto answer = solver::min_cost_flow(problem);
  ENSURE(answer.has_value());  // on demand alone is enough
  Coverage coverage(plans, static_cast<std::int64_t>(hours));
  for (std::size_t i = 0; i < purchases.size(); ++i) {
    if (answer->flows[i] == 0) continue;
    coverage.buy({.hour = static_cast<std::int64_t>(purchases[i].first),
                  .plan = purchases[i].second,
                  .units = answer->flows[i]});
  }
  return coverage;
}

}  // namespace berth::purchase
